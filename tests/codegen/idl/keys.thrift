namespace rs keys

enum Kind { NONE, SOME = 7 }
struct Point { 1: required double x, 2: optional double y, 3: set<double> more, 4: map<string, double> names }
struct Simple { 1: i32 a, 2: string b }
union Choice { 1: double number, 2: Point point, 3: list<set<i32>> lists }
typedef double Score
typedef list<Score> Scores
typedef map<set<i32>, i32> Tables
typedef string Name
typedef Point Place

struct Maps {
  1: map<bool, i32> bools
  2: map<i8, i32> bytes
  3: map<i64, i32> longs
  4: map<double, i32> doubles
  5: map<string, i32> strings
  6: map<binary, i32> binaries
  7: map<uuid, i32> uuids
  8: map<Kind, i32> kinds
  9: map<Point, i32> points
  10: map<list<i32>, i32> lists
  11: map<set<i32>, i32> sets
  12: map<map<i32, double>, i32> maps
  13: map<Choice, i32> choices
  14: map<Score, i32> scores
  15: map<Scores, i32> many_scores
  16: map<Tables, i32> tables
  17: map<Name, i32> names
  18: map<Place, i32> places
  19: map<Simple, i32> simples
  20: map<map<set<i32>, i32>, list<double>> nested
}

struct Sets {
  1: set<bool> bools
  2: set<i8> bytes
  3: set<i64> longs
  4: set<double> doubles
  5: set<string> strings
  6: set<binary> binaries
  7: set<uuid> uuids
  8: set<Kind> kinds
  9: set<Point> points
  10: set<list<i32>> lists
  11: set<set<i32>> sets
  12: set<map<i32, double>> maps
  13: set<Choice> choices
  14: set<Score> scores
  15: set<Scores> many_scores
  16: set<Tables> tables
  17: set<Name> names
  18: set<Place> places
  19: set<Simple> simples
}

const map<double, list<double>> DOUBLES = {1.5: [2.5], -1: []}
const map<Point, string> PLACES = {{"x": 1, "more": [0.5]}: "here"}
const set<list<double>> SCORES = [[1, 2.5], [], [1, 2.5]]
