// error 8:22 128 does not fit `i8` (`i8` ranges from -128 to 127)
// error 8:38 -32769 does not fit `i16` (`i16` ranges from -32768 to 32767)
// error 8:57 2147483648 does not fit `i32` (`i32` ranges from -2147483648 to 2147483647)
// error 8:81 2 is no `bool` (write `true` or `false`; 1 and 0 mean the same)
// error 8:95 70000 does not fit `i16` (`i16` ranges from -32768 to 32767)
// Apache's compiler takes numbers beyond a field's range, and cuts them.
include "parts/right.thrift"
struct A { 1: i8 a = 128, 2: i16 b = -32769, 3: i32 c = 2147483648, 4: bool d = 2, 5: i16 e = right.LIMIT }
