// Apache's compiler wants one separator at most, and none behind a struct; two do no harm.
struct A { 1: i32 a,, 2: i32 b;; 3: i32 c,; };
enum E { ONE,, TWO;; };
const A SAMPLE = {"a": 1, "b": 2, "c": 3};;
service S { void a(1: i32 x,, 2: i32 y),, };
