// error 3:14 the constant `A` is declared twice (rename one of them)
const i32 A = 1
const string A = "x"
