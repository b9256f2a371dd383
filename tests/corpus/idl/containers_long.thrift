// Fourteen elements, fifteen and sixteen: compact's counts change their form.
struct A { 1: list<i32> a, 2: list<i32> b, 3: list<i32> c, 4: list<bool> d, 5: list<string> e }
const A SAMPLE = {
  "a": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], "b": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
  "c": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
  "d": [true, false, true, false, true, false, true, false, true, false, true, false, true, false, true, false]
  "e": ["", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"]
}
