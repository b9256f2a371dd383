namespace rs a.bC

include "collide_other.thrift"

struct FB { 1: i32 fooBar = 1, 2: i32 foo_bar = 2, 3: i32 FooBar = 3, 4: collide_other.Thing thing }
struct Fb { 1: i32 a }
struct fb { 1: i32 b }
enum Values { A_B = 1, AB = 2, a_b = 3, ALSO_AB = 2 }
union Fields { 1: i32 fooBar, 2: i32 foo_bar, 3: i32 FooBar }
const i32 FB = 1
const i32 Fb = 2
const Values Values = Values.a_b

service Foo {
  i32 GetItem(1: i32 fooBar, 2: i32 foo_bar)
  i32 get_item(1: i32 arg)
}
service foo { i32 GetItem(1: i32 arg) }
