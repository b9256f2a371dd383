// error 7:15 unknown type `int` (did you mean `i32`?)
// error 7:25 unknown type `String` (the names of base types are in lower case)
// error 7:38 unknown type `u32` (Thrift has no unsigned integers)
// error 7:48 unknown type `float` (did you mean `double`?)
// error 7:60 unknown type `bytes` (did you mean `binary`?)
// error 7:72 `vector` is not a container (did you mean `list`?)
struct A { 1: int a, 2: String b, 3: u32 c, 4: float d, 5: bytes e, 6: vector<i32> f }
