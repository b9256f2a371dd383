// error 4:20 the oneway method `f` has a result (write `void`, or remove `oneway`)
// error 4:58 the oneway method `g` throws (remove `throws`, or remove `oneway`)
exception X {}
service S { oneway i32 f(), oneway void g() throws (1: X x) }
