// error 2:11 this constant refers to itself (write a value at one place of the circle)
const i32 A = B
const i32 B = C
const i32 C = A
