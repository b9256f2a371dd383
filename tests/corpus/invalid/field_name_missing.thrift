// error 3:18 expected the name of the field, found `,`
// error 3:30 expected the name of the field, found `}`
struct A { 1: i32, 2: string }
