// error 4:14 expected an integer, found `"one"`
// error 4:25 expected an integer, found `1.5`
// error 4:34 expected an integer, found `D`
enum E { A = "one", B = 1.5, C = D }
