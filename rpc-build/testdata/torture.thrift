/** What the file is for. */

/**/ /***/ /*******************/
namespace * torture # a comment
namespace rs a.torture.type ( one = "1" , two )
namespace py.twisted x
namespace _odd _x._y
cpp_include "<vector>" // another
include 'shared.thrift'
include "sub/other.thrift";

/*
 * Not a doc comment.
 */
typedef /* here */ map /* and */ < /* here */ i32 /* too */ , // and
  set <string> > # here
  Nested ( a.b.c = "x" , empty = "" , plain ) ;;

typedef list<i32> cpp_type "std::deque<int32_t>" Deque
typedef set cpp_type "std::set" <i64> (python.immutable = "") Odd,
typedef map cpp_type 'M' <string (x = "1"), binary> Mapped
typedef shared.Color Colour

/**
 * Numbers of all kinds.
 *
 *   - indented
 */
enum Numbers {
  ZERO, ONE; /** Two. */ TWO (a = "b")
  SEVEN = 7 EIGHT, NEG = -5; NEXT
  HEX = 0xfF,,
  MIN = -2147483648, MAX = 2147483647
} (
  over.several = "lines",
  and = "more";
);

struct _under { 1: i32 _x; 2: i32 x_, 3: i32 __ 4: i32 _ }
struct Empty {}
exception E {} union U {}

struct Keywords {
  1: i32 type, 2: i32 struct, 3: i32 list, 4: i32 required, 5: required i32 optional,
  6: i32 async, 7: i32 self, 8: optional list<i32> union; 9: i32 namespace
  10: i32 service 11: i32 true
} (kind = "odd")

struct Defaults {
  1: bool yes = 1, 2: bool no = false
  3: byte tiny = -0x80
  4: i64 low = -9223372036854775808
  5: double whole = 3, 6: double exp = -1.5E-3, 7: double point = .5
  8: string single = 'say "hi"', 9: string double_ = "it's\t\"\\\" é"
  10: binary raw = "bytes"
  11: Numbers by_name = TWO, 12: Numbers by_path = Numbers.NEG, 13: Numbers by_number = 7
  14: shared.Color far = shared.Color.GREEN, 15: Colour alias = Colour.RED
  16: list<i32> listed = [1, 2; 3 4], 17: set<string> words = ['a']
  18: map<string, list<double>> mapped = {'a': [1, 2.5], "b": []}
  19: shared.Point point_ = {"x": 1, 'y': shared.LIMIT}
  20: i32 constant = shared.LIMIT, 21: i32 number = Numbers.SEVEN
  22: optional i32 maybe = LATER
  23: uuid id = "00112233-4455-6677-8899-AABBCCDDEEFF"
  24: i32 & shared_ptr (cpp.ref = "")
}

const i32 LATER = LAST
const i32 LAST = 0x10;
const map<Numbers, shared.Point> POINTS = { Numbers.ONE: {"x": 1}, TWO: shared.ORIGIN }
const list<shared.Point> PAIR = [shared.ORIGIN, shared.ORIGIN],
const double D = LAST

service Nothing {}

/** Serves. */
service All extends other.Base /* says */ {
  /** Does it. */
  void plain(),
  oneway void fire(1: i32 a, 2: string b);;
  list<map<string, Empty>> many(1: i32 a = 5; 2: required string b (x = "y") 3: Nested c) throws (1: E e, 2: shared.Oops oops) (ann = "x"),
  i32 (type.ann = "z") union(1: i32 type)
  void async()
  void oneway()
  string last(5: i32 e, 2: i32 b)
} (deprecated)
/** Nothing follows. */
