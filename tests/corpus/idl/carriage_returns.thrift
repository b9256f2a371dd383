/** Of two
 * lines. */
struct A {
  1: i32 a // a comment
  # another
  2: string b
}

const A SAMPLE = {"a": 1,
  "b": "x"}
