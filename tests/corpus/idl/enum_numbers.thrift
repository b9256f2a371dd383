enum E { A = -5, B, C = 255, D = 0xff00, E = -2147483648, F = 2147483647, G = 0 }
struct S { 1: list<E> a, 2: E b = E.B }
const S SAMPLE = {"a": [E.A, E.B, E.C, E.D, E.E, E.F, E.G]}
