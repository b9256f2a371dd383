// error parts/circle_b.thrift:1:9 files include each other: parts/circle_b.thrift → parts/circle_c.thrift → parts/circle_b.thrift (move what both files need into a third)
include "parts/circle_b.thrift"
struct A { 1: circle_b.B b }
