include "parts/point.thrift"
struct point { 1: i32 mine }
struct Point { 1: point mine, 2: point.Point theirs }
enum Color { RED = 5 }
const Point SAMPLE = {"mine": {"mine": 1}, "theirs": {"x": 2}}
