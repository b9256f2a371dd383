// error 4:22 expected `,` between the key and the value of a map, found `>`
// error 4:35 expected a type, found `>`
// error 4:47 expected `<` behind `set`, found `i32`
struct A { 1: map<i32> a, 2: list<> b, 3: set i32 c }
