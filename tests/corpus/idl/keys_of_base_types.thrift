enum E { ONE = 1 }
typedef string Name
struct A {
  1: map<bool, i32> a, 2: map<i8, i32> b, 3: map<i16, i32> c, 4: map<i32, i32> d, 5: map<i64, i32> e, 6: map<double, i32> f
  7: map<string, i32> g, 8: map<binary, i32> h, 9: map<E, i32> i, 10: map<Name, i32> j
}
const A SAMPLE = {"a": {true: 1}, "b": {-1: 2}, "c": {-2: 3}, "d": {-3: 4}, "e": {-4: 5}, "f": {0.5: 6}, "g": {"x": 7}, "h": {"y": 8}, "i": {E.ONE: 9}, "j": {"z": 10}}
const A SAMPLE_MANY = {
  "a": {true: 1, false: 2}, "b": {1: 1, 2: 2, 3: 3}, "c": {}, "d": {1: 1, -1: 2}, "e": {}, "f": {1.5: 1, -1.5: 2, 0: 3}
  "g": {"a": 1, "b": 2, "": 3}, "h": {}, "i": {}, "j": {"q": 1, "r": 2}
}
