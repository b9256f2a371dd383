enum E { ONE = 1 }
struct S { 1: i32 a }
union U { 1: i32 a }
struct A {
  1: bool a, 2: byte b, 3: i8 c, 4: i16 d, 5: i32 e, 6: i64 f, 7: double g, 8: string h, 9: binary i, 10: E j, 11: S k, 12: U l
  13: list<S> m, 14: set<string> n, 15: map<string, S> o, 16: list<E> p, 17: set<E> q, 18: map<E, list<U>> r
}
const A SAMPLE = {
  "a": true, "b": -128, "c": 127, "d": -32768, "e": -2147483648, "f": 9223372036854775807, "g": -0.125, "h": "text", "i": "bytes", "j": 1
  "k": {"a": 1}, "l": {"a": 2}, "m": [{"a": 3}, {"a": 4}], "n": ["x"], "o": {"y": {"a": 5}}, "p": [E.ONE, 1], "q": [E.ONE], "r": {E.ONE: [{"a": 6}]}
}
