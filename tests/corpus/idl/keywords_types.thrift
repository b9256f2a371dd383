struct type { 1: i32 a }
struct fn { 1: type b }
union match { 1: fn c, 2: i32 d }
exception impl { 1: string message }
enum box { A = 1 }
typedef type mod
typedef list<match> ref
struct Self { 1: mod type, 2: ref match, 3: box box, 4: type fn }
const Self SAMPLE = {"type": {"a": 1}, "match": [{"c": {"b": {"a": 2}}}, {"d": 3}], "box": box.A, "fn": {"a": 4}}
service dyn { type fn(1: match match) throws (1: impl impl) }
