include "parts/left/same.thrift"
include "parts/right/same.thrift"
struct A { 1: same.Left left, 2: same.Right right }
const A SAMPLE = {"left": {"a": 1}, "right": {"b": 2}}
