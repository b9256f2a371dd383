include "circle_c.thrift"
struct B { 1: i32 b }
