//! A service without a definition language: plain serde structs over MessagePack. What a generator writes otherwise, the method
//! as a type and its handler in a table, stands here by hand.

use rpc::{
    Client, Codec, Context, Decode, EncodeOutcome, Method, MethodTable, NamedService, Never, Place, Router,
    Server, Shape, msgpack, mux,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct HelloRequest {
    name: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct HelloReply {
    message: String,
}

/// The method `say_hello`.
enum SayHello {}

impl Method for SayHello {
    const SERVICE: &'static str = "Greeter";
    const NAME: &'static str = "say_hello";
    const SHAPE: Shape = Shape::Unary;
    const REQUEST: Place = Place::Message;
    type Request = HelloRequest;
    type Response = HelloReply;
    type Exception = Never;
}

#[derive(Clone)]
struct Greeter;

impl<C: Codec + Decode<HelloRequest> + EncodeOutcome<HelloReply, Never>> NamedService<C> for Greeter {
    const NAME: &'static str = "Greeter";

    fn register(&self, table: &mut MethodTable<C>) {
        table.unary::<SayHello, _, _>(|context: Context, request: HelloRequest| async move {
            let reply = HelloReply { message: format!("Hello, {}!", request.name) };
            context.finish::<SayHello>(Ok(Ok(reply)))
        });
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let services = Router::new().add(Greeter);
    let server = Server::new().accept(msgpack::Rpc::new(), services).listen("127.0.0.1:0").await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());

    let client = Client::new(mux::connect(address, msgpack::Rpc::new()).await?);
    let Ok(reply) = client.call::<SayHello>(&HelloRequest { name: "serde".into() }).await?;
    println!("{}", reply.message);
    Ok(())
}
