namespace rs probe

enum Color { RED = 1, GREEN = 2 }

struct Empty {}

struct Tree {
  1: optional i32 val
  2: optional list<Tree> kids
}

union Shape {
  1: i32 radius
  2: string label
}

exception Oops {
  1: i32 code
  2: string text
}

struct Bag {
  1: required i64 id
  2: optional string name
  3: optional binary blob
  4: optional Color color
  5: optional Shape shape
  6: optional i32 tail
  7: optional map<double, string> bykey
  8: optional set<i32> uniq
  9: optional list<bool> flags
}

service Probe {
  string echo(1: string text)
  Bag swap(1: Bag bag) throws (1: Oops oops)
  i32 grow(1: Tree tree)
  void poke(1: i32 how) throws (1: Oops oops)
  i64 nap(1: i32 millis)
  oneway void fire(1: string text)
}
