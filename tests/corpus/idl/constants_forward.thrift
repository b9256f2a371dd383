// Apache's compiler wants constants and types declared before they are used.
const A SAMPLE = {"a": FIRST, "b": {"c": SECOND}}
const i32 FIRST = SECOND
const i32 SECOND = THIRD
const i32 THIRD = 0x10
struct A { 1: i32 a, 2: B b }
struct B { 1: i64 c }
