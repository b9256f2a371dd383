namespace py names_of_std
struct Option { 1: i32 a }
struct Some { 1: Option a }
struct Result { 1: Some a, 2: optional Box b }
struct Ok { 1: i32 a }
struct Err { 1: Ok a }
struct Vec { 1: list<String> a }
struct String { 1: string str }
struct Box { 1: optional Box a, 2: i32 b }
struct Default { 1: i32 a = 4 }
struct HashMap { 1: map<i32, HashSet> a }
struct HashSet { 1: set<i32> a }
struct Bytes { 1: binary bytes_ }
struct Iterator { 1: double f64, 2: bool bool_, 3: i8 u8 }
union Clone { 1: Option Some, 2: Result Ok, 3: Err Err }
enum Ordering { Less, Equal, Greater }
exception Error { 1: string message, 2: Ordering ordering }
typedef list<Option> Into
typedef Result From
struct All {
  1: Result result, 2: Vec vec, 3: Default default_, 4: HashMap map_, 5: Bytes bytes, 6: Iterator iterator, 7: list<Clone> clones
  8: Into into, 9: From from_, 10: Ordering ordering
}
const All SAMPLE = {
  "result": {"a": {"a": {"a": 1}}, "b": {"a": {"b": 2}, "b": 3}}, "vec": {"a": [{"str": "x"}]}, "default_": {"a": 5}
  "map_": {"a": {1: {"a": [2]}}}, "bytes": {"bytes_": "raw"}, "iterator": {"f64": 1.5, "bool_": true, "u8": -1}
  "clones": [{"Some": {"a": 6}}, {"Err": {"a": {"a": 7}}}], "into": [{"a": 8}], "from_": {"a": {"a": {"a": 9}}}
  "ordering": Ordering.Greater
}
service Send { Result Sync(1: Option option) throws (1: Error error) }
