namespace rs hello

struct HelloRequest {
  1: required string name,
}

struct HelloReply {
  1: string message,
}

// Nobody of that name is here.
exception Unknown {
  1: string name,
}

service Greeter {
  HelloReply say_hello(1: HelloRequest request),
  // Greets only people who are known.
  HelloReply find(1: string name) throws (1: Unknown unknown),
}
