//! A client from `.thrift`, for `hello_server`.

use examples::idl::hello::{GreeterClient, HelloRequest};
use rpc::{mux, thrift};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8888".into());
    let greeter = GreeterClient::new(mux::connect(address, thrift::framed()).await?);
    let reply = greeter.say_hello(HelloRequest { name: "world".into() }).await?;
    println!("{}", reply.message);
    Ok(())
}
