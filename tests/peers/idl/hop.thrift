// What is spoken with peers that know TTHeader: all of echo.thrift, and what a server saw of a call.
include "echo.thrift"

namespace rs hop
namespace go hop

struct Ask {
  1: i64 sleep_ms, // how long the handler takes
  2: i32 business, // not 0: the server fails with a business error of this number
  3: string text,
}

struct Seen {
  1: map<string, string> transient,
  2: map<string, string> persistent,
  3: i64 left_ms,  // how long the caller gave the call; 0 if it did not say
  4: i32 given_up, // how many handlers of look the server has given up at their deadlines
  5: string text,
}

service Hop extends echo.Echo {
  Seen look(1: Ask ask),
}
