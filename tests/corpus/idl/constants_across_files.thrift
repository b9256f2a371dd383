include "parts/point.thrift"
include "parts/shapes.thrift"
const i32 MINE = point.LIMIT
const map<i32, i32> TABLE = {point.LIMIT: shapes.DOUBLED}
struct A { 1: i32 a = point.LIMIT, 2: i32 b = shapes.DOUBLED, 3: point.Color color = point.Color.BLUE, 4: point.Point p = {"x": point.LIMIT} }
const A SAMPLE = {"a": MINE, "b": 1, "color": point.Color.GREEN, "p": {"x": shapes.DOUBLED}}
