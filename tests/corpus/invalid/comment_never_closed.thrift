// error 3:13 this comment is never closed (close it with `*/`)
// Apache's compiler does not end on this.
struct A {} /* and so on
