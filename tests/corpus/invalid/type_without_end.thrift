// error 4:8 a value of this type would have no end: `A` → `B` → `C` → `A` (make a field on the way optional and without default, or put it in a list)
// error 7:7 a value of this type would have no end: `U` → `U` (make a field on the way optional and without default, or put it in a list)
// Apache's compiler takes types that no finite value is of.
struct A { 1: required B b }
struct B { 1: required C c }
struct C { 1: required A a }
union U { 1: U u }
