// error 3:32 the id 1 of `c` is taken (give one of them another id)
// error 4:30 the id 1 of `b` is taken (give one of them another id)
struct A { 1: i32 a, 2: i32 b, 1: string c }
service S { void f(1: i32 a, 1: i32 b) }
