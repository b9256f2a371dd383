// error 3:9 there is no file `parts/wrong.thrift` (looked for `parts/wrong.thrift`)
include "parts/right.thrift"
include "parts/wrong.thrift"
struct A { 1: wrong.Thing a }
