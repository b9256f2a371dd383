namespace rs corpus.together
include "parts/shared_namespace.thrift"
struct A { 1: shared_namespace.Part part, 2: shared_namespace.part other, 3: i32 size = shared_namespace.SIZE }
const i32 SIZE_TWO = 4
const A SAMPLE = {"part": {"a": 1}, "other": {"b": 2}, "size": SIZE_TWO}
