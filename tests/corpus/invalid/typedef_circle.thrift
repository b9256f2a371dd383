// error 2:11 this typedef leads back to itself: `A` → `B` → `C` → `A` (it has to end at a base type, an enum or a struct; only these last may contain themselves)
typedef B A
typedef C B
typedef list<A> C
struct S { 1: A a }
