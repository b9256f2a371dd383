// error 3:13 `stream` is not a container (Thrift's language has no streams; a streaming service is written in a .proto file)
// error 3:39 `stream` is not a container (Thrift's language has no streams; a streaming service is written in a .proto file)
service S { stream<i32> f(), i32 g(1: stream<string> s) }
