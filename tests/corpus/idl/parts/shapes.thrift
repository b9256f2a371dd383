include "point.thrift"
namespace py corpus_shapes
union Shape { 1: point.Point dot, 2: point.Line line }
const Shape DOT = {"dot": {"x": 0}}
const i32 DOUBLED = point.LIMIT
service Middle extends point.Base { Shape draw(1: Shape shape) }
