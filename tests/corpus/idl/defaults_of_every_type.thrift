enum E { A = 3 }
struct S { 1: i32 a = 1, 2: string b = "b" }
union U { 1: i32 a, 2: string b }
struct A {
  1: bool a = true, 2: i8 b = 1, 3: i16 c = 2, 4: i32 d = 3, 5: i64 e = 4, 6: double f = 5.5, 7: string g = "g", 8: binary h = "h"
  9: E i = E.A, 10: S j = {"a": 9}, 11: U k = {"b": "u"}, 12: list<i32> l = [1, 2], 13: set<string> m = ["x"], 14: map<i32, S> n = {1: {"a": 2}}
  15: list<list<bool>> o = [[true, false], []]
}
const A SAMPLE = {}
const A SAMPLE_OTHER = {"a": false, "i": E.A, "j": {}, "k": {"a": 0}, "l": [], "m": [], "n": {}, "o": []}
