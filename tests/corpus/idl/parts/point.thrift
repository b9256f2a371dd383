namespace py corpus_point
const i32 LIMIT = 100
const i32 SEVEN = 7
struct Point { 1: required i32 x, 2: optional i32 y = SEVEN }
const Point ORIGIN = {"x": 0}
enum Color { RED = 1, GREEN = 2, BLUE = 10 }
exception Oops { 1: i32 code }
typedef list<Point> Line
service Base { Point move(1: Point point) throws (1: Oops oops), oneway void note(1: string text) }
