struct A { 1: list<list<list<list<list<list<list<list<i32>>>>>>>> a, 2: map<i32, map<i32, map<i32, map<i32, set<string>>>>> b }
const A SAMPLE = {"a": [[[[[[[[1, 2], []]]]]]]], "b": {1: {2: {3: {4: ["x"]}}}}}
