// The shape of the complex message of CloudWeGo's kitex-benchmark: a map of a few large parts, a list of many small ones, a set,
// and a message within the message.
namespace rs complex

struct Part {
  1: optional i64 id,
  2: optional string value,
}

struct Group {
  1: optional i64 id,
  2: optional string value,
  3: optional list<Part> parts,
}

struct Complex {
  1: required string action,
  2: required string msg,
  3: required map<string, Part> by_name,
  4: required list<Part> parts,
  5: optional set<Group> groups,
  6: required Group flag,
  7: optional string cost,
}
