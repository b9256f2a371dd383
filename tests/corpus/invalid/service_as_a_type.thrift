// error 3:15 `S` is a service, not a type (services can not be passed or returned; they can only be extended)
service S {}
struct A { 1: S s }
