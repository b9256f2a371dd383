//! Types that Apache's compiler generated for Rust, in services and clients of ours; and its blocking client and server, with
//! ours on the other side. `generated.rs` is what the compiler (0.17) makes:
//! `thrift --gen rs -out tests/apache_types idl/echo.thrift`.
#![allow(clippy::unwrap_used, reason = "tests")]

#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, missing_debug_implementations, rust_2018_idioms, unreachable_pub, unused_qualifications, reason = "generated")]
mod generated;
mod service;

use std::time::Duration;

use generated::{EchoSyncClient, EchoSyncProcessor, TEchoSyncClient};
use rpc::thrift::apache;
use rpc::{Bytes, Client, Decode, Encode, Place, Router, Server, Speaks, Transport, thrift as ours};
use service::{Blocking, Echo, EchoException, Ping, Theirs};
use tests_peers::apache::{apache_python, call_all, client_passes, server};
use tests_peers::idl::echo::EchoServer;
use tests_peers::service::{Echoing, requests};
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryInputProtocolFactory, TBinaryOutputProtocol, TBinaryOutputProtocolFactory,
    TCompactInputProtocol, TCompactInputProtocolFactory, TCompactOutputProtocol,
    TCompactOutputProtocolFactory, TInputProtocol, TInputProtocolFactory, TOutputProtocol,
    TOutputProtocolFactory,
};
use thrift::server::TServer;
use thrift::transport::{
    ReadHalf, TBufferedReadTransport, TBufferedReadTransportFactory, TBufferedWriteTransport,
    TBufferedWriteTransportFactory, TFramedReadTransport, TFramedReadTransportFactory, TFramedWriteTransport,
    TFramedWriteTransportFactory, TIoChannel, TReadTransportFactory, TTcpChannel, TWriteTransportFactory,
    WriteHalf,
};

/// What our own types hold, in Apache's.
fn echo_requests() -> Vec<(&'static str, generated::EchoRequest)> {
    let in_theirs = |request| {
        let mut bytes = rpc::BytesMut::new();
        ours::Binary.encode(Place::Item, &request, &mut bytes).unwrap();
        apache::Binary.decode(Place::Item, bytes.freeze()).unwrap()
    };
    requests().into_iter().map(|(name, request)| (name, in_theirs(request))).collect()
}

#[tokio::test]
async fn python_calls_a_service_of_such_types() {
    let Some(python) = apache_python() else { return };
    let binary = || Router::new().add(Theirs::default());
    let compact = || Router::new().add(Theirs::default());
    let listening = Server::new()
        .accept(apache::framed(), binary())
        .accept(apache::buffered(), binary())
        .accept(apache::framed_compact(), compact())
        .accept(apache::buffered_compact(), compact())
        .listen("127.0.0.1:0")
        .await
        .unwrap();
    let port = listening.local_addr().unwrap().port();
    let serving = tokio::spawn(listening.serve());
    for transport in ["framed", "buffered"] {
        for protocol in ["binary", "compact"] {
            client_passes(&python, port, &["--protocol", protocol, "--transport", transport]).await;
        }
    }
    serving.abort();
}

#[tokio::test]
async fn a_client_of_such_types_calls_python() {
    let Some(python) = apache_python() else { return };
    let framed = server(&python, &["--protocol", "compact", "--transport", "framed"]).await;
    call_with_their_types(rpc::mux::connect(&framed.address, apache::framed_compact()).await.unwrap()).await;
    let buffered = server(&python, &["--protocol", "binary", "--transport", "buffered"]).await;
    call_with_their_types(rpc::pool::connect(&buffered.address, apache::buffered()).await.unwrap()).await;
}

async fn call_with_their_types<S: Transport + Speaks>(transport: S)
where
    S::Codec: Encode<generated::EchoRequest>
        + rpc::DecodeOutcome<generated::EchoResponse, EchoException>
        + Encode<apache::Plain<String>>,
{
    let client = Client::new(transport);
    for (name, request) in echo_requests() {
        let response = client.call::<Echo>(&request).await.unwrap().unwrap();
        assert_eq!(response.request, request, "{name}");
    }
    let (_, minimal) = echo_requests().swap_remove(1);
    let failing = generated::EchoRequest { fail_code: Some(7), ..minimal };
    let EchoException::Failed(error) = client.call::<Echo>(&failing).await.unwrap().unwrap_err();
    assert_eq!(error.0.code, Some(7));
    client.send::<Ping>(&apache::Plain("note".into())).await.unwrap();
}

type Reading = Box<dyn TInputProtocol + Send>;
type Writing = Box<dyn TOutputProtocol + Send>;

/// Apache's four ways, by name.
const WAYS: [(&str, &str); 4] =
    [("binary", "framed"), ("binary", "buffered"), ("compact", "framed"), ("compact", "buffered")];

fn blocking_client(way: (&str, &str), port: u16) -> EchoSyncClient<Reading, Writing> {
    let mut channel = TTcpChannel::new();
    channel.open(("127.0.0.1", port)).unwrap();
    let (read, write): (ReadHalf<TTcpChannel>, WriteHalf<TTcpChannel>) = channel.split().unwrap();
    let (read, write): (Box<dyn std::io::Read + Send>, Box<dyn std::io::Write + Send>) = match way.1 {
        "framed" => (Box::new(TFramedReadTransport::new(read)), Box::new(TFramedWriteTransport::new(write))),
        _ => (Box::new(TBufferedReadTransport::new(read)), Box::new(TBufferedWriteTransport::new(write))),
    };
    match way.0 {
        "binary" => EchoSyncClient::new(
            Box::new(TBinaryInputProtocol::new(read, true)),
            Box::new(TBinaryOutputProtocol::new(write, true)),
        ),
        _ => EchoSyncClient::new(
            Box::new(TCompactInputProtocol::new(read)),
            Box::new(TCompactOutputProtocol::new(write)),
        ),
    }
}

#[tokio::test]
async fn its_blocking_client_calls_our_server() {
    let services = || Router::new().add(EchoServer::new(Echoing::default()));
    let compact = || Router::new().add(EchoServer::new(Echoing::default()));
    let listening = Server::new()
        .accept(ours::framed(), services())
        .accept(ours::buffered(), services())
        .accept(ours::framed_compact(), compact())
        .accept(ours::buffered_compact(), compact())
        .listen("127.0.0.1:0")
        .await
        .unwrap();
    let port = listening.local_addr().unwrap().port();
    let serving = tokio::spawn(listening.serve());
    let calls = tokio::task::spawn_blocking(move || {
        for way in WAYS {
            let mut client = blocking_client(way, port);
            for (name, request) in echo_requests() {
                assert_eq!(client.echo(request.clone()).unwrap().request, request, "{name} {way:?}");
            }
            let (_, minimal) = echo_requests().swap_remove(1);
            let failing = generated::EchoRequest { fail_code: Some(7), ..minimal.clone() };
            let error = client.echo(failing).unwrap_err();
            let thrift::Error::User(error) = error else { panic!("{error}") };
            assert_eq!(error.downcast_ref::<generated::EchoError>().unwrap().code, Some(7));
            let pings = client.echo(minimal.clone()).unwrap().pings.unwrap();
            client.ping("note".into()).unwrap();
            while client.echo(minimal.clone()).unwrap().pings.unwrap() == pings {
                std::thread::yield_now();
            }
        }
    });
    tokio::time::timeout(Duration::from_secs(60), calls).await.unwrap().unwrap();
    serving.abort();
}

/// Serves with Apache's blocking server, in a thread that ends with the process; returns the address.
fn blocking_server(way: (&str, &str)) -> String {
    let read: Box<dyn TReadTransportFactory + Send> = match way.1 {
        "framed" => Box::new(TFramedReadTransportFactory::new()),
        _ => Box::new(TBufferedReadTransportFactory::new()),
    };
    let write: Box<dyn TWriteTransportFactory + Send> = match way.1 {
        "framed" => Box::new(TFramedWriteTransportFactory::new()),
        _ => Box::new(TBufferedWriteTransportFactory::new()),
    };
    let (input, output): (Box<dyn TInputProtocolFactory + Send>, Box<dyn TOutputProtocolFactory + Send>) =
        match way.0 {
            "binary" => {
                (Box::new(TBinaryInputProtocolFactory::new()), Box::new(TBinaryOutputProtocolFactory::new()))
            }
            _ => (
                Box::new(TCompactInputProtocolFactory::new()),
                Box::new(TCompactOutputProtocolFactory::new()),
            ),
        };
    let processor = EchoSyncProcessor::new(Blocking::default());
    let mut server = TServer::new(read, input, write, output, processor, 4);
    // The port is free now; the server can not choose one itself and say so.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    std::thread::spawn({
        let address = address.clone();
        move || server.listen(address)
    });
    address
}

#[tokio::test]
async fn our_clients_call_its_blocking_server() {
    for way in WAYS {
        let address = blocking_server(way);
        let listening = async {
            while tokio::net::TcpStream::connect(&address).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), listening).await.unwrap();
        match way {
            ("binary", "framed") => {
                call_all(rpc::mux::connect(&address, ours::framed()).await.unwrap()).await;
                call_all(rpc::pool::connect(&address, ours::framed()).await.unwrap()).await;
            }
            ("binary", _) => call_all(rpc::mux::connect(&address, ours::buffered()).await.unwrap()).await,
            (_, "framed") => {
                call_all(rpc::mux::connect(&address, ours::framed_compact()).await.unwrap()).await
            }
            _ => call_all(rpc::pool::connect(&address, ours::buffered_compact()).await.unwrap()).await,
        }
    }
}

/// A peer's count takes no memory, and a broken request costs itself alone.
#[tokio::test]
async fn a_hostile_request_is_answered() {
    let services = || Router::new().add(Theirs::default());
    let listening = Server::new().accept(apache::framed(), services()).listen("127.0.0.1:0").await.unwrap();
    let address = listening.local_addr().unwrap().to_string();
    let serving = tokio::spawn(listening.serve());
    let client = Client::new(rpc::mux::connect(&address, apache::framed()).await.unwrap());
    // Field 1, the request; its field 19, a list of two billion structs.
    let body = Bytes::from_static(&[12, 0, 1, 15, 0, 19, 12, 0x7f, 0xff, 0xff, 0xff, 0, 0]);
    let head = rpc::RequestHead { method: "echo".into(), ..rpc::RequestHead::default() };
    let status = client.call_raw(head, body).await.unwrap().head.status.unwrap_err();
    assert_eq!(status.code(), rpc::Code::InvalidArgument);
    assert!(status.message().contains("2147483647"), "{status:?}");
    let (_, minimal) = echo_requests().swap_remove(1);
    client.call::<Echo>(&minimal).await.unwrap().unwrap();
    serving.abort();
}
