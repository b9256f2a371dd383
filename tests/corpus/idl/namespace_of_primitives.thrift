namespace rs str.u8.f64.bool.char
namespace py primitives_ns
struct A { 1: bool a, 2: byte b, 3: double c, 4: string d }
const A SAMPLE = {"a": true, "b": 1, "c": 1.5, "d": "x"}
