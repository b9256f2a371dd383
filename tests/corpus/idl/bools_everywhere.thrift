struct A { 1: bool a, 2: bool b, 3: list<bool> c, 4: set<bool> d, 5: map<bool, bool> e, 6: optional bool f, 40: bool g, 41: optional bool h }
const A SAMPLE = {"a": true, "b": false, "c": [true, false], "d": [true], "e": {true: false}, "f": false, "g": true}
