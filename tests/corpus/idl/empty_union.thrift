union Nothing {}
struct A { 1: optional Nothing a, 2: list<Nothing> b }
const A SAMPLE = {"b": []}
