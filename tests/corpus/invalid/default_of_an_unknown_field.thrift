// error 4:22 `A` has no field `sise` (did you mean `size`?)
// error 4:52 the field `b` is given twice
struct A { 1: i32 size, 2: i32 b }
struct B { 1: A a = {"sise": 1}, 2: A b = {"b": 1, "b": 2} }
