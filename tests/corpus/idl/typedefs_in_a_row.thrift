typedef i32 A
typedef A B
typedef B C
typedef list<C> D
typedef map<C, D> E
typedef E F
struct S { 1: A a, 2: B b, 3: C c = 5, 4: D d, 5: E e, 6: F f, 7: list<F> g }
typedef S T
typedef T U
struct V { 1: T t, 2: U u }
const V SAMPLE = {"t": {"a": 1, "b": 2, "d": [3], "e": {4: [5]}, "f": {6: []}, "g": [{7: [8]}]}, "u": {"a": 1, "b": 2, "c": 0, "d": [], "e": {}, "f": {}, "g": []}}
const C CONSTANT = 4
