//! Codec and transport chosen by flags: everything above the transport stays as it is.
//!
//! `cargo run -p examples --bin choose -- --codec msgpack --transport pool`

use clap::{Parser, ValueEnum};
use examples::Friendly;
use examples::idl::hello::{GreeterClient, GreeterServer, HelloRequest};
use rpc::{Body, BoxError, Request, Response};
use rpc::{Router, Server, msgpack, mux, pool, thrift};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

#[derive(Parser)]
struct Flags {
    #[arg(long, default_value = "thrift")]
    codec: Codec,
    #[arg(long, default_value = "mux")]
    transport: Transport,
}

#[derive(Clone, Copy, ValueEnum)]
enum Codec {
    Thrift,
    Msgpack,
}

#[derive(Clone, Copy, ValueEnum)]
enum Transport {
    Mux,
    Pool,
}

/// Any transport, behind one pointer.
type Boxed = BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flags = Flags::parse();
    let greeter = GreeterServer::new(Friendly);
    let server = Server::new()
        .accept(thrift::framed(), Router::new().add(greeter.clone()))
        .accept(msgpack::Rpc::new(), Router::new().add(greeter))
        .listen("127.0.0.1:0")
        .await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());

    let request = HelloRequest { name: "choice".into() };
    let reply = match flags.codec {
        Codec::Thrift => {
            let transport = match flags.transport {
                Transport::Mux => boxed(mux::connect(address, thrift::framed()).await?),
                Transport::Pool => boxed(pool::connect(address, thrift::framed()).await?),
            };
            GreeterClient::with_codec(thrift::Binary, transport).say_hello(request).await?
        }
        Codec::Msgpack => {
            let transport = match flags.transport {
                Transport::Mux => boxed(mux::connect(address, msgpack::Rpc::new()).await?),
                Transport::Pool => boxed(pool::connect(address, msgpack::Rpc::new()).await?),
            };
            GreeterClient::with_codec(msgpack::MsgPack::default(), transport).say_hello(request).await?
        }
    };
    println!("{}", reply.message);
    Ok(())
}

fn boxed(transport: impl rpc::Transport) -> Boxed {
    BoxCloneSyncService::new(transport.map_err(Into::into))
}
