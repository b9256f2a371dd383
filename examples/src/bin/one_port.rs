//! One service on two protocols at once, on one port: each connection's protocol is told by its first bytes. Types from `.thrift`
//! go over Thrift and over MessagePack; types from `.proto` have a service of their own beside them.

use examples::Friendly;
use examples::idl::hello::{GreeterClient, GreeterServer, HelloRequest};
use rpc::{Context, Router, Server, Status, msgpack, mux, pool, protobuf, thrift};

#[allow(missing_docs, reason = "generated")]
mod proto {
    rpc::include_idl!("greet");
}
use proto::greet;

/// The same greeting for `.proto` clients.
impl greet::Greeter for FriendlyToo {
    async fn greet(&self, _: &Context, request: greet::GreetRequest) -> Result<greet::GreetReply, Status> {
        Ok(greet::GreetReply { message: format!("Hello, {}!", request.name) })
    }
}
struct FriendlyToo;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let greeter = GreeterServer::new(Friendly); // clones share it
    let server = Server::new()
        .accept(thrift::framed(), Router::new().add(greeter.clone()))
        .accept(msgpack::Rpc::new(), Router::new().add(greeter))
        .accept(protobuf::kitex_framed(), Router::new().add(greet::GreeterServer::new(FriendlyToo)))
        .listen("127.0.0.1:0")
        .await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());

    let name = |name: &str| HelloRequest { name: name.into() };
    let over_thrift = GreeterClient::new(mux::connect(&address, thrift::framed()).await?);
    println!("{}", over_thrift.say_hello(name("Thrift")).await?.message);
    let over_msgpack = GreeterClient::new(pool::connect(&address, msgpack::Rpc::new()).await?);
    println!("{}", over_msgpack.say_hello(name("MessagePack")).await?.message);
    let over_protobuf = greet::GreeterClient::new(mux::connect(&address, protobuf::kitex_framed()).await?);
    println!("{}", over_protobuf.greet(greet::GreetRequest { name: "Protobuf".into() }).await?.message);
    Ok(())
}
