include "parts/point.thrift"
struct A { 1: i32 a }
service Base { A get(1: A a), void Get() }
service base { A get(1: A a) }
service Further extends point.Base { A get(1: A a) }
const A SAMPLE = {"a": 1}
