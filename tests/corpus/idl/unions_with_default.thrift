union U { 1: i32 a, 2: string b = "chosen", 3: list<i32> c }
struct A { 1: U u = {"c": [1]}, 2: required U v }
const A SAMPLE = {"u": {"b": "x"}, "v": {"b": "y"}}
