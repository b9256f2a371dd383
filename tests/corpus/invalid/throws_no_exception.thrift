// error 4:33 `A` is not an exception (declare `A` with the keyword `exception`)
// error 4:41 `i32` is not an exception (declare an exception with a field of this type)
struct A {}
service S { void f() throws (1: A a, 2: i32 b) }
