// What every system under test serves. `echo.proto` beside this file has the same fields.
namespace rs bench

struct EchoRequest {
  1: string action,
  2: string msg,
}

struct EchoResponse {
  1: string action,
  2: string msg,
}

// Asks the handler to burn this much CPU time before it answers.
struct BurnRequest {
  1: i32 micros,
}

struct BurnResponse {
  1: i32 micros,
}

service Echo {
  EchoResponse echo(1: EchoRequest request),
  BurnResponse burn(1: BurnRequest request),
}
