union A { 1: i32 a, 2: B b, 3: C c }
union B { 1: C c, 2: string b, 3: list<A> as_ }
union C { 1: double c, 2: bool d }
const A SAMPLE = {"b": {"c": {"d": true}}}
const A SAMPLE_LIST = {"b": {"as_": [{"a": 1}, {"c": {"c": 0.5}}, {"b": {"b": "x"}}]}}
const A SAMPLE_FALSE = {"c": {"d": false}}
