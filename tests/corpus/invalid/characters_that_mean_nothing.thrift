// error 3:21 unexpected `@` (annotations stand in parentheses behind what they describe: `(key = "value")`)
// error 4:8 unexpected `Ä`
struct A { 1: i32 a @ }
struct Ä { 1: i32 b }
