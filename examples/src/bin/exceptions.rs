//! Declared exceptions: the caller gets an enum with a variant for each, and one for everything else.

use examples::Friendly;
use examples::idl::hello::{GreeterClient, GreeterFindError, GreeterServer};
use rpc::{Router, Server, mux, thrift};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let services = Router::new().add(GreeterServer::new(Friendly));
    let server = Server::new().accept(thrift::framed(), services).listen("127.0.0.1:0").await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());

    let greeter = GreeterClient::new(mux::connect(address, thrift::framed()).await?);
    for name in ["Ada", "Nobody", ""] {
        match greeter.find(name.into()).await {
            Ok(reply) => println!("{}", reply.message),
            Err(GreeterFindError::Unknown(unknown)) => println!("{} is not known", unknown.name),
            Err(GreeterFindError::Other(error)) => println!("{error}"),
        }
    }
    println!("{}", greeter.find("Grace".into()).await?.message); // who does not care uses `?`
    Ok(())
}
