namespace rs extends

include "extends_b.thrift"
include "extends_a.thrift"

exception Other { 1: i32 code }

service C extends extends_b.B {
  i32 own(1: i32 id) throws (1: extends_a.Lost lost, 2: Other other)
  i32 get_item(1: i32 id)
}

service Empty {}
service Child extends Empty {}

service Shapes {
  void nothing()
  oneway void shout()
  i32 thirty(1: i32 a1, 2: i32 a2, 3: i32 a3, 4: i32 a4, 5: i32 a5, 6: i32 a6, 7: i32 a7, 8: i32 a8, 9: i32 a9, 10: i32 a10,
    11: i32 a11, 12: i32 a12, 13: i32 a13, 14: i32 a14, 15: i32 a15, 16: i32 a16, 17: i32 a17, 18: i32 a18, 19: i32 a19,
    20: i32 a20, 21: i32 a21, 22: i32 a22, 23: i32 a23, 24: i32 a24, 25: i32 a25, 26: i32 a26, 27: i32 a27, 28: i32 a28,
    29: i32 a29, 30: i32 a30)
  string unordered(3: string third, 1: string first, 2: required string second)
  string without_ids(string a, string b)
}

struct WithoutIds { i32 a, i32 b, 5: i32 c, i32 d }
