struct A { 1: map<i32, string> a, 2: set<i32> b }
const A SAMPLE = {"a": {1: "first", 1: "last"}, "b": [7, 7, 7]}
