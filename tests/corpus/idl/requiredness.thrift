// warning 3:52 an argument can not be optional (remove `optional`, or pass a struct with an optional field)
// warning 4:14 the fields of a union are optional (remove `required`)
service S { void f(1: required i32 a, 2: i32 b, 3: optional i32 c) }
union U { 1: required i32 a, 2: optional i32 b }
struct A { 1: required i32 a, 2: optional i32 b, 3: i32 c, 4: optional U d }
const A SAMPLE = {"a": 0, "c": 0}
const A SAMPLE_FULL = {"a": 1, "b": 2, "c": 3, "d": {"a": 4}}
