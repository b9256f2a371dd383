struct A { 1: i32 a = 1 }
service S { i32 f(1: i32 a = 5, 2: A b = {"a": 7}, 3: list<string> c = ["x"], 4: required string d, 5: map<i32, A> e = {}) }
const A SAMPLE = {}
