include "parts/shapes.thrift"
include "parts/point.thrift"
exception Own { 1: string message }
struct A { 1: point.Point p }
service Last extends shapes.Middle { A own(1: A a) throws (1: Own own, 2: point.Oops oops), i32 note_(1: i32 NOTE) }
service Other extends point.Base {}
const A SAMPLE = {"p": {"x": 1}}
