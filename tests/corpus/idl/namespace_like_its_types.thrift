namespace rs a.A.a
struct A { 1: i32 a }
struct a { 1: i32 A }
const A SAMPLE = {"a": 1}
const a SAMPLE_SMALL = {"A": 2}
service aMethods { A get() }
