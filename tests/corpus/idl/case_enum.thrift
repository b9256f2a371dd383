enum E { A_B = 1, AB = 2, a_b = 3, aB = 4, Ab = 5 }
struct A { 1: E a, 2: list<E> b = [E.A_B, E.AB, E.a_b, E.aB, E.Ab] }
const A SAMPLE = {"a": E.aB, "b": [E.Ab, E.a_b]}
