struct Point { 1: required double x, 2: optional string name } (python.immutable = "")
struct Box { 1: required Point low, 2: required Point high } (python.immutable = "")
typedef Point Place
struct A { 1: map<Point, string> a, 2: set<Place> b, 3: map<Box, Box> c }
const A SAMPLE = {"a": {{"x": 1.5, "name": "n"}: "x"}, "b": [{"x": 2}], "c": {{"low": {"x": 0}, "high": {"x": 1}}: {"low": {"x": 2}, "high": {"x": 3}}}}
