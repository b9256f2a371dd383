// error 4:1 `include` stands behind a definition (move it to the top of the file, before the first definition)
// error 5:1 `namespace` stands behind a definition (move it to the top of the file, before the first definition)
struct A {}
include "parts/right.thrift"
namespace rs late
