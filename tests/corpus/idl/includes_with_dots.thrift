include "parts/v1.types.thrift"
struct A { 1: v1.types.T t }
const A SAMPLE = {"t": {"a": 1}}
