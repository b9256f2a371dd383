namespace rs self.mod.type.crate.super.fn
namespace py keywords_ns
struct A { 1: i32 a }
union U { 1: A a, 2: U u }
const A SAMPLE = {"a": 1}
const U SAMPLE_UNION = {"u": {"a": {"a": 2}}}
service S { A f(1: U u) }
