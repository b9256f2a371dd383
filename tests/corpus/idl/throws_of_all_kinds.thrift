exception X { 1: string message }
exception Y { 1: X cause }
typedef X Z
service S {
  void one() throws (1: X x), i32 two(1: i32 a) throws (1: X x, 2: Y y), X same(1: i32 a) throws (1: X x), list<X> many() throws (5: Y y, 2: X x)
  void alias() throws (1: Z z), void both() throws (1: X x, 2: X again)
}
const Y SAMPLE = {"cause": {"message": "m"}}
