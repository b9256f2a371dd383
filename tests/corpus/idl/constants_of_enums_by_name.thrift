// Apache's compiler takes the name of a constant for an enum only if it is of another file.
enum E { ONE = 1, TWO }
const E CHOSEN = E.TWO
struct A { 1: E a = CHOSEN, 2: E b = TWO }
const A SAMPLE = {"a": ONE, "b": CHOSEN}
