// error 2:30 expected `)` to end these annotations (add `)` behind the last member)
struct A { 1: i32 a (x = "y" }
