enum Color { RED = 1, GREEN = 2 }
struct Point { 1: required i32 x, 2: i32 y = 9 }
const i32 LIMIT = 100
const Point ORIGIN = {'x': 0, 'y': 0}
exception Oops { 1: string why }
