union U { 1: i32 a, 2: string b }
struct A { 1: list<U> list_, 2: map<string, U> map_, 3: optional U maybe, 4: required U must, 5: U plain, 6: list<list<U>> deep }
const A SAMPLE = {"list_": [{"a": 1}, {"b": "x"}], "map_": {"k": {"b": "y"}}, "must": {"a": 2}, "plain": {"a": 3}, "deep": [[{"a": 4}], []]}
