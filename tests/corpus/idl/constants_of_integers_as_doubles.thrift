// Apache's compiler takes the name of a double that is written as an integer for 0.
const double WHOLE = 3
const i32 NUMBER = 4
struct A { 1: double a = WHOLE, 2: double b = NUMBER, 3: double c = 5 }
const A SAMPLE = {}
const A SAMPLE_NEGATIVE = {"a": -1, "b": WHOLE, "c": NUMBER}
