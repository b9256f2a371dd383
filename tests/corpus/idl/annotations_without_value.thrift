struct A { 1: i32 a (bare), 2: i32 b (bare, other = "x", third) } (flag)
const A SAMPLE = {"a": 1, "b": 2}
