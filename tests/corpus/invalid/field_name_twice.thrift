// error 3:32 the field `a` is declared twice (rename one of them)
// error 4:37 the field `x` is declared twice (rename one of them)
struct A { 1: i32 a, 2: string a }
service S { void f(1: i32 x, 2: i32 x) }
