exception X { 1: required i32 code, 2: optional string message }
struct A { 1: X x, 2: list<X> xs, 3: map<i32, X> by_code }
union U { 1: X x }
const A SAMPLE = {"x": {"code": 1, "message": "m"}, "xs": [{"code": 2}], "by_code": {3: {"code": 3}}}
const U SAMPLE_UNION = {"x": {"code": 4}}
service S { X get(1: X x) throws (1: X again) }
