//! A proxy: it hands calls of any method on, without knowing their types, by `fallback` on one side and `call_raw` on the other.

use examples::Friendly;
use examples::idl::hello::{GreeterClient, GreeterServer, HelloRequest};
use rpc::{Body, BoxError, Client, Request, Response, Router, Server, mux, thrift};
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let services = Router::new().add(GreeterServer::new(Friendly));
    let upstream = Server::new().accept(thrift::framed(), services).listen("127.0.0.1:0").await?;
    let upstream_address = upstream.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(upstream.serve());

    let client = Client::new(mux::connect(upstream_address, thrift::framed()).await?);
    let forward = service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            let body = request.body.into_once().ok_or("streams are not forwarded")?;
            let response = client.call_raw(request.head, body).await?;
            Ok::<_, BoxError>(Response { head: response.head, body: Body::Once(response.body) })
        }
    });
    let proxy =
        Server::new().accept(thrift::framed(), Router::new().fallback(forward)).listen("127.0.0.1:0").await?;
    let proxy_address = proxy.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(proxy.serve());

    let greeter = GreeterClient::new(mux::connect(proxy_address, thrift::framed()).await?);
    println!("{}", greeter.say_hello(HelloRequest { name: "proxy".into() }).await?.message);
    Ok(())
}
