struct V1 { 1: i32 v1, 2: i32 v_1, 3: i32 v1_2, 4: i32 v12, 5: i32 x2y, 6: i32 a1b2c3 }
struct V_1 { 1: i32 a }
struct v1 { 1: i32 b }
const V1 SAMPLE = {"v1": 1, "v_1": 2, "v1_2": 3, "v12": 4, "x2y": 5, "a1b2c3": 6}
const V_1 SAMPLE_V_1 = {"a": 1}
const v1 SAMPLE_SMALL = {"b": 2}
