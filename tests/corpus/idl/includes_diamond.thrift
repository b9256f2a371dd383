include "parts/point.thrift"
include "parts/shapes.thrift"
struct A { 1: point.Point point, 2: shapes.Shape shape, 3: point.Line line }
const A SAMPLE = {"point": {"x": 1, "y": 2}, "shape": {"line": [{"x": 3}, {"x": 4}]}, "line": []}
const A SAMPLE_DOT = {"point": {"x": 0}, "shape": {"dot": {"x": 7}}, "line": [{"x": 5, "y": 6}]}
