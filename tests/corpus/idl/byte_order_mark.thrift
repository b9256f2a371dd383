struct A { 1: i32 a }
const A SAMPLE = {"a": 1}
