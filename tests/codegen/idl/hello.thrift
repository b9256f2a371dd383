namespace rs hello

/** Whom to greet. */
struct HelloRequest {
  1: string name,
}

struct HelloReply {
  1: string message,
}

/** There is nobody of that name. */
exception Nobody {
  1: string message,
}

service Greeter {
  /** Says hello. */
  HelloReply say_hello(1: HelloRequest request),
  HelloReply wake(1: HelloRequest request, 2: i32 loudness = 3) throws (1: Nobody nobody),
  oneway void wave(1: string to),
}
