struct A { 1: optional B b, 2: i32 a }
struct B { 1: optional C c, 2: list<A> as_ }
struct C { 1: optional A a, 2: map<i32, B> bs }
const A SAMPLE = {"b": {"c": {"a": {"a": 1}, "bs": {2: {"as_": []}}}, "as_": [{"a": 3}]}, "a": 4}
