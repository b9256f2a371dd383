struct A { 1: i32 a, 16: i32 b, 17: bool c, 33: bool d, 34: i32 e, 1000: i32 f, 32767: bool g }
const A SAMPLE = {"a": 1, "b": 2, "c": true, "d": false, "e": 3, "f": 4, "g": true}
