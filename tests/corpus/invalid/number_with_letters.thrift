// error 3:23 `12ab` is no number and no name (a name begins with a letter or `_`; put a blank or a separator after a number)
// error 3:40 `0x` is no number and no name (a name begins with a letter or `_`; put a blank or a separator after a number)
struct A { 1: i32 a = 12ab, 2: i32 b = 0x }
