// Apache's compiler takes no name of a constant for a struct.
include "parts/point.thrift"
include "parts/shapes.thrift"
struct A { 1: point.Point a = point.ORIGIN, 2: shapes.Shape b = shapes.DOT, 3: list<point.Point> c = [point.ORIGIN] }
const point.Point MINE = point.ORIGIN
const A SAMPLE = {"a": MINE, "b": {"dot": MINE}, "c": [MINE, point.ORIGIN]}
