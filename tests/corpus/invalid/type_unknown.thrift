// error 5:6 unknown type `Iner` (did you mean `Inner`?)
// error 6:11 unknown type `Unheard`
struct Inner { 1: i32 a }
struct A {
  1: Iner a,
  2: list<Unheard> b
}
