//! Apache Thrift's Python library, binary: its client against our server, our clients against its server.
#![allow(clippy::unwrap_used, reason = "tests")]

use rpc::wire::{Buffered, Framed};
use rpc::{Router, Server, thrift};
use tests_peers::apache::{apache_python, call_all, client_passes, server};
use tests_peers::idl::echo::EchoServer;
use tests_peers::service::Echoing;

#[tokio::test]
async fn its_client_calls_our_server() {
    let Some(python) = apache_python() else { return };
    let services = || Router::new().add(EchoServer::new(Echoing::default()));
    let listening = Server::new()
        .accept(thrift::framed(), services())
        .accept(thrift::buffered(), services())
        .listen("127.0.0.1:0")
        .await
        .unwrap();
    let port = listening.local_addr().unwrap().port();
    let serving = tokio::spawn(listening.serve());
    for transport in ["framed", "buffered"] {
        for protocol in ["binary", "binary-accelerated"] {
            client_passes(&python, port, &["--protocol", protocol, "--transport", transport]).await;
        }
        client_passes(&python, port, &["--transport", transport, "--multiplexed", "Echo"]).await;
    }
    serving.abort();
}

/// Messages without a version, where the server allows them; it answers with one.
#[tokio::test]
async fn its_old_client_calls_our_server() {
    let Some(python) = apache_python() else { return };
    let services = || Router::new().add(EchoServer::new(Echoing::default()));
    let header = thrift::BinaryHeader::new().accept_non_strict();
    let listening = Server::new()
        .accept(Framed::new(header), services())
        .accept(Buffered::new(header), services())
        .listen("127.0.0.1:0")
        .await
        .unwrap();
    let port = listening.local_addr().unwrap().port();
    let serving = tokio::spawn(listening.serve());
    for transport in ["framed", "buffered"] {
        for protocol in ["binary-nonstrict", "binary"] {
            client_passes(&python, port, &["--protocol", protocol, "--transport", transport]).await;
        }
    }
    serving.abort();
}

#[tokio::test]
async fn our_clients_call_its_server() {
    let Some(python) = apache_python() else { return };
    for kind in ["threaded", "nonblocking"] {
        let server = server(&python, &["--transport", "framed", "--server", kind]).await;
        call_all(rpc::mux::connect(&server.address, thrift::framed()).await.unwrap()).await;
        call_all(rpc::pool::connect(&server.address, thrift::framed()).await.unwrap()).await;
    }
    let server = server(&python, &["--transport", "buffered"]).await;
    call_all(rpc::mux::connect(&server.address, thrift::buffered()).await.unwrap()).await;
    call_all(rpc::pool::connect(&server.address, thrift::buffered()).await.unwrap()).await;
}

/// A server that writes no version answers clients of ours that read such messages.
#[tokio::test]
async fn our_clients_call_its_old_server() {
    let Some(python) = apache_python() else { return };
    let header = thrift::BinaryHeader::new().accept_non_strict();
    let framed = server(&python, &["--transport", "framed", "--protocol", "binary-nonstrict"]).await;
    call_all(rpc::mux::connect(&framed.address, Framed::new(header)).await.unwrap()).await;
    let buffered = server(&python, &["--transport", "buffered", "--protocol", "binary-nonstrict"]).await;
    call_all(rpc::pool::connect(&buffered.address, Buffered::new(header)).await.unwrap()).await;
}
