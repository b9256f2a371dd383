// error 3:26 this is not UTF-8 (save the file in the UTF-8 encoding)
// Apache's compiler takes any bytes in comments.
struct A { 1: i32 a } // ÿþ
