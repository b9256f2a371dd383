namespace rs older

struct Inner { 1: i32 id }
union Shape { 1: i32 radius }
exception Oops { 1: i32 code }

struct Value {
  1: required i64 id
  4: Inner inner
  5: list<Inner> inners
  6: optional Shape shape
  10: optional Oops oops
  11: i32 changed // in the newer one a string
}

struct Key { 1: i32 unknown_fields, 2: map<Key, i32> more }
const Inner FULL = {"id": 5}
