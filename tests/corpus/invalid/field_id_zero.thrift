// error 3:12 0 can not be the id of a field (0 is the id of a method's result)
// Apache's compiler takes 0, and counts it as a missing id.
struct A { 0: i32 a }
