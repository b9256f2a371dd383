//! A server from `.thrift`. Start it, then `hello_client`; or call it with any Apache Thrift or Kitex client (framed, binary).

use examples::Friendly;
use examples::idl::hello::GreeterServer;
use rpc::{Router, Server, thrift};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8888".into());
    let services = Router::new().add(GreeterServer::new(Friendly));
    let server = Server::new().accept(thrift::framed(), services).listen(address).await?;
    println!("listening at {}", server.local_addr().ok_or("no address")?);
    server.serve_until(tokio::signal::ctrl_c()).await?;
    Ok(())
}
