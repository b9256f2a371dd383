// error 5:1 expected `}` to end struct `A` (add `}` behind the last member)
struct A {
  1: i32 a

struct B { 1: i32 b }
