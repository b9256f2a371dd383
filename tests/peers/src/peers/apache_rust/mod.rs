//! Apache's `thrift` crate: its blocking client and server; and the types that Apache's compiler generates for Rust, in services
//! and clients of ours. `generated.rs` is what the compiler (0.17) makes:
//! `thrift --gen rs -out src/peers/apache_rust idl/echo.thrift`.

mod blocking;
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, clippy::unwrap_used, dead_code, missing_docs, missing_debug_implementations, rust_2018_idioms, unreachable_pub, unused_qualifications, reason = "generated")]
pub mod generated;
mod service;

use std::time::Duration;

use rpc::thrift::apache;
use rpc::{Client, Decode, Encode, Place, Router, Server, Speaks, Transport};

use super::apache_python::SCRIPTS as PYTHON;
use crate::matrix::{Cell, Row};
use crate::program::{Missing, run_checks, serve};
use crate::service::requests;
use crate::way::{self, Around, Names, Ours, Protocol, Theirs, Way};

pub use service::{Echo, EchoException, OfTheirTypes, Ping};

pub(super) fn rows() -> Vec<Row> {
    let blocking = Way::all().map(|way| Row {
        peer: "Apache Rust",
        way: way.to_string(),
        calls_us: Cell::check(calls_us(way)),
        is_called: Cell::check(is_called(way)),
    });
    let types = Way::all().filter(|way| way.names == Names::Plain).map(|way| Row {
        peer: "Apache Python, our side of Apache's Rust types",
        way: way.to_string(),
        calls_us: Cell::check(python_calls_their_types(way)),
        is_called: Cell::check(their_types_call_python(way)),
    });
    blocking.chain(types).collect()
}

async fn calls_us(way: Way) -> Result<(), Missing> {
    let ours = Ours::serve(way).await;
    let port = ours.port;
    tokio::task::spawn_blocking(move || blocking::call(way, port)).await.expect("all its calls");
    Ok(())
}

async fn is_called(way: Way) -> Result<(), Missing> {
    let address = blocking::serve(way);
    // It does not say when it listens.
    while tokio::net::TcpStream::connect(&address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    way::call(way, &address, &Theirs { name: "apache-rust", requests: requests() }).await;
    Ok(())
}

async fn python_calls_their_types(way: Way) -> Result<(), Missing> {
    let binary = || Router::new().add(OfTheirTypes::default());
    let compact = || Router::new().add(OfTheirTypes::default());
    let listening = Server::new()
        .accept(apache::framed(), binary())
        .accept(apache::buffered(), binary())
        .accept(apache::framed_compact(), compact())
        .accept(apache::buffered_compact(), compact())
        .listen("127.0.0.1:0")
        .await
        .expect("a port");
    let port = listening.local_addr().expect("an address").port();
    let client = PYTHON.client_of(way, way.words()[0], port)?;
    let serving = tokio::spawn(listening.serve());
    run_checks(client, 8).await;
    serving.abort();
    Ok(())
}

async fn their_types_call_python(way: Way) -> Result<(), Missing> {
    let server = serve(PYTHON.server_of(way, way.words()[0], &[])?).await;
    let address = &server.address;
    match (way.protocol, way.around) {
        (Protocol::Compact, Around::Frame) => {
            call(rpc::mux::connect(address, apache::framed_compact()).await.expect("a mux")).await;
        }
        (Protocol::Compact, Around::Nothing) => {
            call(rpc::pool::connect(address, apache::buffered_compact()).await.expect("a pool")).await;
        }
        (_, Around::Frame) => {
            call(rpc::mux::connect(address, apache::framed()).await.expect("a mux")).await;
        }
        (_, Around::Nothing) => {
            call(rpc::pool::connect(address, apache::buffered()).await.expect("a pool")).await;
        }
    }
    Ok(())
}

/// What our own types hold, in Apache's.
///
/// # Panics
/// When the two disagree on the bytes.
pub fn echo_requests() -> Vec<(&'static str, generated::EchoRequest)> {
    let in_theirs = |request| {
        let mut bytes = rpc::BytesMut::new();
        rpc::thrift::Binary.encode(Place::Item, &request, &mut bytes).expect("bytes");
        apache::Binary.decode(Place::Item, bytes.freeze()).expect("the same request")
    };
    requests().into_iter().map(|(name, request)| (name, in_theirs(request))).collect()
}

async fn call<S: Transport + Speaks>(transport: S)
where
    S::Codec: Encode<generated::EchoRequest>
        + rpc::DecodeOutcome<generated::EchoResponse, EchoException>
        + Encode<apache::Plain<String>>,
{
    let client = Client::new(transport);
    for (name, request) in echo_requests() {
        let response = client.call::<Echo>(&request).await;
        let response = response.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(response.expect("a response").request, request, "{name}");
    }
    let (_, minimal) = echo_requests().swap_remove(1);
    let failing = generated::EchoRequest { fail_code: Some(7), ..minimal };
    let outcome = client.call::<Echo>(&failing).await.expect("an outcome");
    let EchoException::Failed(error) = outcome.expect_err("an exception");
    assert_eq!(error.0.code, Some(7));
    client.send::<Ping>(&apache::Plain("note".into())).await.expect("a ping");
}
