namespace rs annotated (a = "b")
typedef i32 (bits = "32") Number (unit = "none")
typedef list<string (x = "y")> (python.immutable = "") Words
enum E { ONE = 1 (first = "yes"), TWO (dotted.key.of.many = "") } (kind = "enum")
struct A {
  1: required Number n = 3 (over = "several",
    lines = "of",
    text = "with \"quotes\" and 'others'"; and.semicolons = "x"),
  2: optional i32 (on.type = "1") typed (on.field = "2")
} (deprecated = "use B", empty = "")
union U { 1: i32 a (x = "1") } (u = "1")
exception X { 1: string message (x = "1") } (x = "1")
const A SAMPLE = {"n": 4, "typed": 5}
service S {
  i32 (result = "1") f(1: i32 a (arg = "1")) throws (1: X x (thrown = "1")) (method = "1"),
  oneway void g() (deprecated)
} (of.service = "1")
