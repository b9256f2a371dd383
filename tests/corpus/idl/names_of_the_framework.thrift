struct Request { 1: Response response }
struct Response { 1: Status status }
struct Status { 1: Context context }
struct Context { 1: Client client }
struct Client { 1: Server server }
struct Server { 1: Router router }
struct Router { 1: Codec codec }
struct Codec { 1: i32 a }
exception Never { 1: string message }
const Request SAMPLE = {"response": {"status": {"context": {"client": {"server": {"router": {"codec": {"a": 1}}}}}}}}
service Service {
  Request connect(1: Response a), void builder(), void ready(), void call(1: i32 request), void poll_ready(), void serve()
  void layer(), void into_inner(), void drop(), void default_(), void with_timeout(), void send() throws (1: Never never)
  void fmt(), void register(1: i32 table), void from_arc(), void client(), void NewClient(), void with_codec()
}
