// error 4:1 expected `=` and the value of the constant, found `const`
// error 4:13 expected a value, found the end of the file
const i32 A
const i32 B = 
