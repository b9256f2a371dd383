// Apache's Python has no unions that can be keys.
union U { 1: double a, 2: string b, 3: list<set<i32>> c }
struct A { 1: map<U, i32> a, 2: set<U> b }
const A SAMPLE = {"a": {{"a": 0.5}: 1, {"b": "x"}: 2, {"c": [[1]]}: 3}, "b": [{"b": "y"}]}
