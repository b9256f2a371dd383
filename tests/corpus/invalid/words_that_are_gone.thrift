// error 2:1 `senum` is not supported (it was removed from Thrift; use `enum`, or fields of type `string`)
senum E { "a", "b" }
php_namespace x
struct A xsd_all { 1: i32 a }
