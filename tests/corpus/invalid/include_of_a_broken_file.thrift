// error 5:30 unknown type `broken.Missing`
// error parts/broken.thrift:1:23 expected a value of type `i32`, found a string (write an integer)
// error parts/broken.thrift:2:8 the type `T` is declared twice (rename one of them)
include "parts/broken.thrift"
struct A { 1: broken.T t, 2: broken.Missing m }
