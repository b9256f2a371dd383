// Commas, semicolons and neither, mixed.
struct A { 1: i32 a, 2: i32 b; 3: i32 c 4: i32 d }
enum E { ONE, TWO; THREE FOUR = 9 }
const list<i32> NUMBERS = [1, 2; 3 4]
const map<i32, i32> PAIRS = {1: 2, 3: 4; 5: 6}
const A SAMPLE = {"a": 1, "b": 2; "c": 3 "d": 4}
const A SAMPLE_TWO = {"a": 5, "b": 6, "c": 7, "d": 8};
service S { void a(1: i32 x, 2: i32 y; 3: i32 z 4: E e), void b(); void c() void d() }
