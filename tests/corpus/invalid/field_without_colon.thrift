// error 2:14 expected `:` behind the id of a field, found `i32`
struct A { 1 i32 a }
