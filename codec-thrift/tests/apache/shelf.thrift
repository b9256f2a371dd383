// What Apache's compiler makes of every type. `generated.rs` is its output:
//   thrift --gen rs -out . shelf.thrift && mv shelf.rs generated.rs     (version 0.17)

enum Color {
  RED = 1,
  BLUE = 10,
}

union Label {
  1: i32 number,
  2: string text,
}

struct Book {
  1: required i32 id,
  2: optional string title,
}

struct Shelf {
  1: bool flag,
  2: i8 tiny,
  3: i16 small,
  4: i32 medium,
  5: i64 large,
  6: double real,
  7: string text,
  8: binary blob,
  9: list<string> words,
  10: set<i32> ids,
  11: map<string, Book> books,
  12: Color color,
  13: optional Label label,
  14: list<bool> flags,
  15: map<i8, list<i64>> nested,
  300: optional bool far,
}

struct Chain {
  1: optional Chain rest,
}

exception Full {
  1: i32 room,
}
