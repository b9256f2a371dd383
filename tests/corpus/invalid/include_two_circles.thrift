// error 4:9 `include_two_circles.thrift` includes itself (move what both files need into a third)
// error parts/circle_c.thrift:1:9 files include each other: parts/circle_c.thrift → parts/circle_b.thrift → parts/circle_c.thrift (move what both files need into a third)
include "parts/circle_c.thrift"
include "include_two_circles.thrift"
struct A {}
