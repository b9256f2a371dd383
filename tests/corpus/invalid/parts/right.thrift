struct Right { 1: i32 a }
enum Color { RED = 1 }
const i32 LIMIT = 70000
service Base { void base() }
