// warning 3:16 the field `a` and 2 more have no id (write an id before each: without, adding one changes those of all that follow)
// warning 5:24 the argument `x` and 1 more have no id (write an id before each: without, adding one changes those of all that follow)
struct A { i32 a, string b, 5: i32 c, i32 d }
const A SAMPLE = {"a": 1, "b": "x", "c": 2, "d": 3}
service S { void f(i32 x, i32 y) }
