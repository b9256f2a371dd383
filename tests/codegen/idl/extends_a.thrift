namespace rs extends.a

exception Lost { 1: string where }

service A {
  string ping(1: string text) throws (1: Lost lost)
  oneway void note(1: string text)
  i32 GetItem(1: i32 id)
}
