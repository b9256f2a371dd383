// error 5:15 unknown type `rihgt.Right` (no included file is called `rihgt`; did you mean `right`?)
// error 5:33 unknown type `Right` (did you mean `right.Right`?)
// error 5:45 unknown type `parts.right.Right` (no included file is called `parts.right`)
include "parts/right.thrift"
struct A { 1: rihgt.Right a, 2: Right b, 3: parts.right.Right c }
