// error 2:9 `parts` is a directory (name a file in `parts`)
include "parts"
struct A {}
