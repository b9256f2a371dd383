// error 6:21 expected a value of type `E`, found a value of the enum `Color` (name one of the values of the enum)
// error 6:47 2 is no value of the enum `E` (add a value with this number, or choose one of its values)
// error 6:59 unknown enum value or constant `TWO`
include "parts/right.thrift"
enum E { ONE = 1 }
struct A { 1: E a = right.Color.RED, 2: E b = 2, 3: E c = TWO }
