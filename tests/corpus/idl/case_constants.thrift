const i32 LIMIT = 1
const i32 Limit = 2
const i32 limit = 3
const i32 L_IMIT = 4
struct A { 1: i32 a = LIMIT, 2: i32 b = Limit, 3: i32 c = limit, 4: optional i32 d = L_IMIT }
const A SAMPLE = {"a": limit, "b": LIMIT, "c": Limit}
