// error 2:9 `include_itself.thrift` includes itself (move what both files need into a third)
include "include_itself.thrift"
struct A {}
