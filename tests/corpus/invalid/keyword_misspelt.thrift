// error 4:1 unknown keyword `strcut` (did you mean `struct`?)
// error 5:1 unknown keyword `servise` (did you mean `service`?)
// error 6:1 unknown keyword `enmu` (did you mean `enum`?)
strcut A { 1: i32 a }
servise S { void f() }
enmu E { A = 1 }
