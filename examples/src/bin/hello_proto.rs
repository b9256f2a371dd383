//! A service from `.proto`, over Kitex-Protobuf.

use rpc::{Context, Router, Server, Status, pool, protobuf};

#[allow(missing_docs, reason = "generated")]
mod idl {
    rpc::include_idl!("greet");
}
use idl::greet::{GreetReply, GreetRequest, Greeter, GreeterClient, GreeterServer};

struct Friendly;

impl Greeter for Friendly {
    async fn greet(&self, _: &Context, request: GreetRequest) -> Result<GreetReply, Status> {
        Ok(GreetReply { message: format!("Hello, {}!", request.name) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let services = Router::new().add(GreeterServer::new(Friendly));
    let server = Server::new().accept(protobuf::kitex_framed(), services).listen("127.0.0.1:0").await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());

    let greeter = GreeterClient::new(pool::connect(address, protobuf::kitex_framed()).await?);
    let reply = greeter.greet(GreetRequest { name: "proto".into() }).await?;
    println!("{}", reply.message);
    Ok(())
}
