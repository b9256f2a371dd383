// Apache's compiler takes the constants of a file that is reached by two paths for constants of two files.
include "parts/point.thrift"
include "parts/point.thrift"
include "parts/../parts/point.thrift"
struct A { 1: point.Point point }
const A SAMPLE = {"point": {"x": 1}}
