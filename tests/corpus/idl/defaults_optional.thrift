struct B { 1: i32 a }
struct A { 1: optional i32 a = 5, 2: optional string b = "x", 3: optional list<i32> c = [1], 4: optional i32 d, 5: optional B e = {"a": 2} }
const A SAMPLE = {}
const A SAMPLE_SET = {"a": 0, "b": "", "c": [], "d": 0, "e": {"a": 0}}
