include "circle_b.thrift"
struct C { 1: i32 c }
