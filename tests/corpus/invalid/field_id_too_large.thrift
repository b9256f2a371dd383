// error 4:26 the id 32768 does not fit 16 bits (ids range from 1 to 32767)
// error 4:40 the id -32769 does not fit 16 bits (ids range from 1 to 32767)
// Apache's compiler takes ids beyond 16 bits, and cuts them.
struct A { 32767: i32 a, 32768: i32 b, -32769: i32 c }
