// Apache's Python does not find types that begin with an underscore.
struct _under { 1: i32 _x, 2: i32 x_, 3: i32 __, 4: i32 _, 5: i32 a__b, 6: i32 _a_b_ }
struct A_B { 1: i32 a }
struct AB { 1: i32 b }
struct A__B { 1: i32 c }
enum _E_ { _A, A_, __, _ }
const _under SAMPLE = {"_x": 1, "x_": 2, "__": 3, "_": 4, "a__b": 5, "_a_b_": 6}
const A_B SAMPLE_A_B = {"a": 1}
const AB SAMPLE_AB = {"b": 2}
const A__B SAMPLE_TWO_BETWEEN = {"c": 3}
