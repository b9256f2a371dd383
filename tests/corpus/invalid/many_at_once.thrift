// error 12:15 unknown type `Missing`
// error 12:26 the id 1 of `b` is taken (give one of them another id)
// error 12:46 1000 does not fit `i8` (`i8` ranges from -128 to 127)
// error 13:13 the value `A` is declared twice (rename one of them)
// error 14:19 unknown service `T`
// error 14:41 unknown type `right.No`
// error 14:64 `A` is not an exception (declare `A` with the keyword `exception`)
// error 14:77 the oneway method `g` has a result (write `void`, or remove `oneway`)
// error 15:15 expected a value of type `i32`, found a string (write an integer)
// error 16:1 expected a definition, found `wrong` (a definition begins with typedef, enum, struct, union, exception, const or service)
include "parts/right.thrift"
struct A { 1: Missing a, 1: i32 b, 3: i8 c = 1000 }
enum E { A, A }
service S extends T { void f(1: A a, 2: right.No b) throws (1: A a), oneway i32 g() }
const i32 X = "x"
wrong
