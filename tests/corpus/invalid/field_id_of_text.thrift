// error 3:12 expected a type, found `"1"`
// error 3:25 expected the name of the field, found `:`
struct A { "1": i32 a, x: i32 b }
