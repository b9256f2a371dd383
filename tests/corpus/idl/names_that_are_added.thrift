// What the generator calls what it adds.
struct FooClient { 1: i32 a }
struct FooServer { 1: i32 a }
struct FooGetError { 1: i32 a }
struct GetArgs { 1: i32 a }
struct GetException { 1: i32 a }
struct Other { 1: i32 a }
struct Unknown { 1: i32 a }
exception NAME { 1: string Other }
union U { 1: Unknown Unknown, 2: Other Other }
struct foo_methods { 1: FooClient a, 2: FooServer b, 3: FooGetError c, 4: GetArgs d, 5: GetException e, 6: U u }
const foo_methods SAMPLE = {"a": {"a": 1}, "b": {"a": 2}, "c": {"a": 3}, "d": {"a": 4}, "e": {"a": 5}, "u": {"Unknown": {"a": 6}}}
service Foo {
  i32 Get(1: GetArgs GetArgs) throws (1: NAME name)
  i32 GetArgs(1: i32 a) throws (1: NAME Other)
  void NAME()
}
service FooGet { void Error() throws (1: NAME name) }
