struct A { 1: i32 a }
service S {
  i32 thirty(1: i32 a, 2: i32 b, 3: i32 c, 4: i32 d, 5: i32 e, 6: i32 f, 7: i32 g, 8: i32 h, 9: i32 i, 10: i32 j, 11: A k, 12: A l, 13: A m
    14: A n, 15: A o, 16: string p, 17: string q, 18: string r, 19: string s, 20: string t, 21: bool u, 22: bool v, 23: bool w, 24: bool x
    25: list<i32> y, 26: list<i32> z, 27: map<i32, i32> aa, 28: set<i32> bb, 29: double cc, 30: binary dd)
}
const A SAMPLE = {"a": 1}
