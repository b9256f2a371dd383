struct A { 1: list<i32> a = [], 2: set<i32> b = [], 3: map<i32, i32> c = {}, 4: list<i32> d = {}, 5: map<i32, i32> e = [], 6: optional list<i32> f = [] }
const A SAMPLE = {}
const A SAMPLE_FULL = {"a": [1], "b": [2], "c": {3: 4}, "d": [5], "e": {6: 7}, "f": [8]}
