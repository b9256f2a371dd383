struct Key { 1: i32 a, 2: set<Key> below, 3: map<Key, i32> table } (python.immutable = "")
struct A { 1: set<Key> keys }
const A SAMPLE = {"keys": []}
