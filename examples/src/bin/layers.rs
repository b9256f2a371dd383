//! Tower middleware on both sides. Layers see encoded requests, so any layer for `Service<Request<Body>>` fits, tower's own
//! among them.

use std::time::Duration;

use examples::Friendly;
use examples::idl::hello::{GreeterClient, GreeterServer, HelloRequest};
use rpc::layer::TraceLayer;
use rpc::{CallOptions, Router, Server, mux, thrift};
use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tracing_subscriber::fmt::format::FmtSpan;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_span_events(FmtSpan::CLOSE) // a call is a span, printed at its end
        .with_writer(std::io::stderr)
        .init();

    let server = Server::new()
        .accept(thrift::framed(), Router::new().add(GreeterServer::new(Friendly)))
        .layer(ConcurrencyLimitLayer::new(64))
        .layer(TraceLayer) // the last one added sees a request first
        .listen("127.0.0.1:0")
        .await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());

    let transport = mux::connect(address, thrift::framed()).await?;
    let stack =
        ServiceBuilder::new().layer(TraceLayer).layer(ConcurrencyLimitLayer::new(8)).service(transport);
    let greeter = GreeterClient::with_codec(thrift::Binary, stack);
    let quick = greeter.with(CallOptions::new().timeout(Duration::from_millis(500)));
    println!("{}", quick.say_hello(HelloRequest { name: "layers".into() }).await?.message);
    Ok(())
}
