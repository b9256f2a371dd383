// error 3:1 expected a definition (there are more closing braces than opening ones before it)
struct A { 1: i32 a }
}
struct B {}
