struct A { 3: i32 c, 1: i32 a, 20: i32 z, 2: bool b, 19: bool y, 4: i32 d }
const A SAMPLE = {"c": 3, "a": 1, "z": 20, "b": true, "y": false, "d": 4}
service S { i32 f(3: i32 c, 1: i32 a, 2: i32 b) }
