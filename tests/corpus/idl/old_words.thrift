// Apache's compiler of today refuses `slist`.
// warning 4:15 `slist` is an old name of `string` (write `string`)
// warning 5:13 `async` is an old name of `oneway` (write `oneway`)
struct A { 1: slist a, 2: byte b }
service S { async void f(1: i32 a) }
const A SAMPLE = {"a": "x", "b": 1}
