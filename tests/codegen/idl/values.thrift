namespace rs values

include "values_shared.thrift"

enum Kind { FIRST = 4, SECOND }

struct Inner { 1: i32 a = 5, 2: optional string b, 3: optional i32 c = 6, 4: list<i32> d = [1, 2] }

struct Defaults {
  1: double whole = 3
  2: bool yes = 1
  3: bool no = 0
  4: i32 negative = -7
  5: i32 hex = 0xff
  6: double exponent = 1.5e3
  7: i64 least = -9223372036854775808
  8: i64 most = 9223372036854775807
  9: i8 tiny = -128
  10: Kind by_name = Kind.SECOND
  11: Kind by_number = 4
  12: values_shared.Shared shared = values_shared.Shared.TWO
  13: string double_quoted = "it's \"so\" – é"
  14: string single_quoted = 'say "hi"\n\t\\'
  15: binary blob = "raw"
  16: list<i32> list = [1, 2, 3]
  17: set<string> set = ["a", "b", "a"]
  18: map<string, Kind> map = {"x": Kind.FIRST, "y": 5, "x": Kind.SECOND}
  19: Inner inner = {"a": 1, "b": "two"}
  20: optional i32 optional_with_default = 9
  21: optional Inner optional_struct = {}
  22: i32 from_other_file = values_shared.NUMBER
  23: required i32 required_with_default = 11
  24: uuid id = "00112233-4455-6677-8899-aabbccddeeff"
  25: Pick pick = {"text": "t"}
  26: optional i32 nothing
  27: Inner plain_struct
}

union Pick { 1: i32 number, 2: string text = "chosen" }
union Nested { 1: Nested nested, 2: Pick pick }
union Nothing {}

const bool YES = true
const i8 TINY = -128
const i64 LEAST = -9223372036854775808
const double HALF = 0.5
const double MINUS = -1e300
const string TEXT = "text"
const binary BLOB = "blob"
const uuid ID = "00112233-4455-6677-8899-AABBCCDDEEFF"
const Kind KIND = Kind.SECOND
const list<Inner> INNERS = [{}, {"c": 1}]
const map<string, map<i32, string>> NESTED = {"a": {1: "b"}}
const i32 COPY = values_shared.NUMBER
const Defaults ALL = {"inner": INNER}
const Inner INNER = {"a": 99}
const Pick PICK = {"number": 3}
