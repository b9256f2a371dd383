// error 4:15 unknown constant `MISSING`
// error 5:15 unknown constant `right.LIMITS` (did you mean `right.LIMIT`?)
include "parts/right.thrift"
const i32 A = MISSING
const i32 B = right.LIMITS
