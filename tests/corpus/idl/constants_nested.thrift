// Apache's compiler refuses the name of a constant inside of another's container.
struct A { 1: i32 a, 2: list<B> bs }
struct B { 1: map<string, list<A>> m }
const A INNER = {"a": 1, "bs": []}
const B MIDDLE = {"m": {"x": [INNER, {"a": 2, "bs": []}]}}
const A SAMPLE = {"a": 3, "bs": [MIDDLE, {"m": {}}, {"m": {"y": []}}]}
