cpp_include "<vector>"
cpp_include '"mine.h"'
typedef list<i32> cpp_type "std::deque<int32_t>" Deque
typedef map cpp_type "boost::container::flat_map<int, int>" <i32, i32> Flat
typedef set cpp_type "std::unordered_set<int>" <i32> Unordered
struct A { 1: Deque d, 2: Flat f, 3: Unordered u, 4: optional A & next }
const A SAMPLE = {"d": [1, 2], "f": {3: 4}, "u": [5], "next": {"d": [], "f": {}, "u": []}}
