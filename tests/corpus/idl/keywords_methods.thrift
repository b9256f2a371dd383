struct A { 1: i32 a }
service match {
  i32 type(1: i32 type, 2: i32 match)
  void move(1: A mod), void ref(), void crate(1: i32 crate), void Self(1: i32 Self), oneway void fn(), i32 dyn(1: i32 cx)
  void await(), void gen(), void box(), void macro(), void where(), void unsafe()
}
const A SAMPLE = {"a": 1}
