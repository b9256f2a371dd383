namespace rs self.mod.type

/** A field for each word of Rust.

    let this_is = "no test";

```
neither is this
```

See [nothing] and <b>.
*/
struct Words {
  1: i32 type
  2: i32 match
  3: i32 async
  4: i32 await
  5: i32 try
  6: i32 gen
  7: i32 dyn
  8: i32 box
  9: i32 macro
  11: i32 self
  12: i32 Self
  13: i32 super
  14: i32 crate
  15: i32 extern
  16: i32 static
  18: i32 _x
  19: i32 x_
  20: i32 __
  21: i32 field
  22: i32 reader
  23: i32 writer
}

enum WordValues { type, match, async, await, try, gen, dyn, box, macro, self, Self, super, crate, static, _x, x_, __ }

union WordFields {
  1: i32 type
  2: i32 match
  3: string self
  4: string Self
  5: string super
  6: string crate
  7: i32 Unknown
  8: i32 _x
  9: i32 x_
  10: i32 __
}

struct type {}
struct Self { 1: i32 a }
struct crate { 1: i32 a }
struct __ { 1: i32 a }
enum _x { A = -2, B }
exception match { 1: string self }
const i32 self = 7
const i32 r = -7

service async {
  i32 type(1: i32 self, 2: i32 crate, 3: i32 cx, 4: type match, 5: i32 __)
  i32 match(1: i32 type) throws (1: match match)
  void await()
  void try(1: Words words)
  void gen()
  void dyn()
  void box()
  void macro()
  void self()
  void super()
  void crate()
  void static()
  void _x()
  void x_()
  void __()
}

/** Methods that the client, the server or every type has already. */
service Framework {
  i32 connect(1: i32 arg)
  i32 new(1: i32 transport)
  i32 builder(1: i32 arg)
  i32 clone(1: i32 arg)
  i32 ready(1: i32 arg)
  i32 call(1: i32 call)
  i32 poll_ready(1: i32 arg)
  i32 serve(1: i32 arg)
  i32 layer(1: i32 arg)
  i32 inner(1: i32 inner)
  i32 into_inner(1: i32 arg)
  i32 drop(1: i32 arg)
  i32 default(1: i32 arg)
  i32 with(1: i32 options)
  i32 with_codec(1: i32 codec)
  i32 with_timeout(1: i32 arg)
  i32 client(1: i32 arg)
  i32 from(1: i32 arg)
  i32 from_arc(1: i32 arg)
  i32 send(1: i32 send)
  i32 fmt(1: i32 f)
  i32 register(1: i32 table)
  i32 map(1: i32 outcome)
}
