namespace rs newer

struct Inner { 1: i32 id, 2: string label, 3: optional double weight, 4: list<map<string, bool>> marks }
union Shape { 1: i32 radius, 2: string label, 3: Inner inner }
exception Oops { 1: i32 code, 2: optional Inner cause }

struct Value {
  1: required i64 id
  2: optional string name
  3: bool flag
  4: Inner inner
  5: list<Inner> inners
  6: optional Shape shape
  7: map<string, i64> counts
  8: set<i32> ids
  9: uuid key
  10: optional Oops oops
  11: string changed
}
