enum E { ONE = 1 }
struct S { 1: i32 a }
union U {
  1: bool a, 2: i8 b, 3: i16 c, 4: i32 d, 5: i64 e, 6: double f, 7: string g, 8: binary h, 9: E i, 10: S j, 11: list<i32> k
  12: set<i32> l, 13: map<i32, i32> m, 32767: i32 n
}
const U SAMPLE_A = {"a": false}
const U SAMPLE_B = {"b": -1}
const U SAMPLE_E = {"e": -9223372036854775807}
const U SAMPLE_F = {"f": -0.5}
const U SAMPLE_H = {"h": "raw"}
const U SAMPLE_I = {"i": E.ONE}
const U SAMPLE_J = {"j": {"a": 1}}
const U SAMPLE_K = {"k": []}
const U SAMPLE_L = {"l": [1]}
const U SAMPLE_M = {"m": {1: 2}}
const U SAMPLE_N = {"n": 1}
