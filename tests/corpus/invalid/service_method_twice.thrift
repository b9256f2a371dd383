// error 4:27 the method `f` is declared twice (rename one of them)
// error 5:37 the method `base` is inherited from `Base` already (a method can not be overridden; give it another name)
include "parts/right.thrift"
service A { void f(), i32 f(1: i32 a) }
service B extends right.Base { void base() }
