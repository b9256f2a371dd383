// error 5:34 the id -3 of `c` is taken (give one of them another id)
// warning 5:23 the negative id -3 is not -2, to which ids count down here (Apache's compiler counts unless told otherwise; choose a positive id)
// warning 5:34 the negative id -3 is not -4, to which ids count down here (Apache's compiler counts unless told otherwise; choose a positive id)
// Apache's compiler counts negative ids anew, whatever is written.
struct A { -1: i32 a, -3: i32 b, -3: i32 c }
