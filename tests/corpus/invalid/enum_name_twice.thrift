// error 2:17 the value `A` is declared twice (rename one of them)
enum E { A = 1, A = 2 }
