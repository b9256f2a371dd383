struct A { 1: required i32 a = 5, 2: required string b, 3: required list<i32> c = [1, 2, 3] }
const A SAMPLE = {"b": "x"}
const A SAMPLE_SET = {"a": 1, "b": "", "c": []}
