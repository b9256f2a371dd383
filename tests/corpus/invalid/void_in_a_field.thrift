// error 4:15 expected a type, found the keyword `void` (`void` only stands where a method's result does)
// error 4:31 expected a type, found the keyword `void` (`void` only stands where a method's result does)
// error 5:18 expected a type, found the keyword `void` (`void` only stands where a method's result does)
struct A { 1: void a, 2: list<void> b }
service S { list<void> f() }
