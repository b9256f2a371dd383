// warning 2:25 `TWO` is 1, as `ONE` is (what is received as this number is taken for the first)
enum E { ONE = 1, TWO = 1 }
struct A { 1: E a, 2: E b }
const A SAMPLE = {"a": E.ONE, "b": E.TWO}
