struct T { 1: C c }
struct C { 1: S s }
struct S { 1: W w }
struct W { 1: R r }
struct R { 1: D d, 2: E e }
struct D { 1: i32 a }
exception X { 1: R r }
enum E { A = 1 }
union F { 1: T t }
const T SAMPLE = {"c": {"s": {"w": {"r": {"d": {"a": 1}, "e": E.A}}}}}
const F SAMPLE_UNION = {"t": {"c": {"s": {"w": {"r": {"d": {"a": 1}, "e": E.A}}}}}}
service TServer { S f(1: T t, 2: C c) }
service G { void f(1: W w) throws (1: X x) }
