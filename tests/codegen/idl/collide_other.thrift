namespace rs a.b_c

struct Thing { 1: i32 a }
service Foo { Thing get(1: Thing thing) }
