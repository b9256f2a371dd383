//! Apache Thrift's Python library, compact: its client against our server, our clients against its server.
#![allow(clippy::unwrap_used, reason = "tests")]

use rpc::{Router, Server, thrift};
use tests_peers::apache::{apache_python, call_all, client_passes, server};
use tests_peers::idl::echo::EchoServer;
use tests_peers::service::Echoing;

#[tokio::test]
async fn its_client_calls_our_server() {
    let Some(python) = apache_python() else { return };
    let services = || Router::new().add(EchoServer::new(Echoing::default()));
    let listening = Server::new()
        .accept(thrift::framed_compact(), services())
        .accept(thrift::buffered_compact(), services())
        .listen("127.0.0.1:0")
        .await
        .unwrap();
    let port = listening.local_addr().unwrap().port();
    let serving = tokio::spawn(listening.serve());
    for transport in ["framed", "buffered"] {
        for protocol in ["compact", "compact-accelerated"] {
            let options = ["--protocol", protocol, "--transport", transport];
            client_passes(&python, port, &options).await;
            client_passes(&python, port, &[&options[..], &["--multiplexed", "Echo"]].concat()).await;
        }
    }
    serving.abort();
}

#[tokio::test]
async fn our_clients_call_its_server() {
    let Some(python) = apache_python() else { return };
    for protocol in ["compact", "compact-accelerated"] {
        for kind in ["threaded", "nonblocking"] {
            let options = ["--protocol", protocol, "--transport", "framed", "--server", kind];
            let server = server(&python, &options).await;
            call_all(rpc::mux::connect(&server.address, thrift::framed_compact()).await.unwrap()).await;
            call_all(rpc::pool::connect(&server.address, thrift::framed_compact()).await.unwrap()).await;
        }
        let server = server(&python, &["--protocol", protocol, "--transport", "buffered"]).await;
        call_all(rpc::mux::connect(&server.address, thrift::buffered_compact()).await.unwrap()).await;
        call_all(rpc::pool::connect(&server.address, thrift::buffered_compact()).await.unwrap()).await;
    }
}
