enum E { type = 1, match, gen, dyn, box, macro, Self, crate, fn, where }
struct A { 1: E a = E.Self, 2: E b }
const A SAMPLE = {"a": E.type, "b": E.where}
