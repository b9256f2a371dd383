// error 5:7 the type `A` is declared twice (rename one of them)
// error 6:9 the type `A` is declared twice (rename one of them)
// error 8:13 the type `B` is declared twice (rename one of them)
struct A {}
union A { 1: i32 a }
service A {}
enum B { ONE = 1 }
typedef i32 B
