namespace rs shadow

struct Result { 1: i32 value }
struct Option { 1: optional Result result }
struct Some { 1: i32 value }
struct None {}
struct Ok { 1: Some some, 2: None none }
struct Err { 1: string value }
struct Vec { 1: list<String> strings, 2: set<Box> boxes }
struct String { 1: string string }
struct Box { 1: i32 value }
struct Arc { 1: optional Arc arc }
struct Default { 1: i32 value = 3 }
struct Clone { 1: bool value }
struct Future { 1: map<Pin, Debug> pins }
struct Pin { 1: double value }
union Debug { 1: Result result, 2: Option option }
enum Send { Sync, Sized }
struct Sync { 1: Send send = Send.Sized }
struct Sized { 1: binary bytes, 2: uuid id }
struct Request { 1: Response response }
struct Response { 1: i32 value }
exception Error { 1: string message }
exception Status { 1: optional string Message }
exception Other { 1: i32 code }
struct Bytes { 1: binary bytes }
struct HashMap { 1: map<String, HashMap> map }
struct Context { 1: i32 value }
struct T { 1: C c }
struct C { 1: S s }
struct S { 1: W w = {"r": {"d": 4}} }
struct W { 1: R r }
struct R { 1: i32 d, 2: D e }
struct D { 1: list<T> t }
struct Serialize { 1: i32 a }
struct Service_ { 1: i32 a }
struct ServiceClient { 1: i32 a }
struct ServiceServer { 1: i32 a }
struct ServiceGetError { 1: i32 a }
struct GetArgs { 1: i32 a }
struct GetException { 1: i32 a }

const Send SEND = Send.Sync
const S VALUE = {"w": {"r": {"d": 5}}}

service Service {
  Result get(1: Option option, 2: T t, 3: C c, 4: S s) throws (1: Error error, 2: Status status, 3: Other other, 4: Error again)
  Result Get(1: Context context, 2: Future future) throws (1: Error error)
  Vec GetArgs(1: Request request)
  S NAME(1: W w)
}

service Client { i32 get(1: i32 arg), i32 Get(1: i32 arg) }
service TServer {}
