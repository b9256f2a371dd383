//! Apache Thrift's Python library, framed binary: its client against our server, our clients against its server.
#![allow(clippy::unwrap_used, reason = "tests")]

use rpc::{Router, Server, Speaks, Transport, thrift};
use tests_peers::idl::echo::{EchoClient, EchoEchoError, EchoRequest, EchoServer};
use tests_peers::program::{installed, python, run, script, serve};
use tests_peers::service::{Echoing, requests};
use tokio::process::Command;

const COMPILER: &str = "apt-get install thrift-compiler";

#[tokio::test]
async fn its_client_calls_our_server() {
    let (Some(python), Some(_)) = (python(), installed("thrift", COMPILER)) else { return };
    let services = Router::new().add(EchoServer::new(Echoing::default()));
    let server = Server::new().accept(thrift::framed(), services).listen("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    let serving = tokio::spawn(server.serve());
    for protocol in ["binary", "binary-accelerated"] {
        let mut client = Command::new(&python);
        client.arg(script("apache_client.py")).args(["127.0.0.1", &port, "--protocol", protocol]);
        let printed = run(client.args(["--transport", "framed"])).await;
        assert!(printed.trim_end().ends_with("8 passed, 0 failed"), "{printed}");
    }
    let mut client = Command::new(&python);
    client.arg(script("apache_client.py")).args(["127.0.0.1", &port, "--transport", "framed"]);
    let printed = run(client.args(["--multiplexed", "Echo"])).await;
    assert!(printed.trim_end().ends_with("8 passed, 0 failed"), "{printed}");
    serving.abort();
}

#[tokio::test]
async fn our_clients_call_its_server() {
    let (Some(python), Some(_)) = (python(), installed("thrift", COMPILER)) else { return };
    for kind in ["threaded", "nonblocking"] {
        let server = serve(&python, |command, host, port| {
            command.arg("-u").arg(script("apache_server.py")).args([host, &port.to_string()]);
            command.args(["--transport", "framed", "--server", kind]);
        })
        .await;
        call_all(rpc::mux::connect(&server.address, thrift::framed()).await.unwrap()).await;
        call_all(rpc::pool::connect(&server.address, thrift::framed()).await.unwrap()).await;
    }
}

async fn call_all<S: Transport + Speaks<Codec = thrift::Binary>>(transport: S) {
    let client = EchoClient::new(transport);
    let mut pings = 0;
    for (name, request) in requests() {
        let response = client.echo(request.clone()).await.unwrap();
        assert_eq!(response.request, request, "{name}");
        assert_eq!(response.server, "apache-py");
        pings = response.pings;
    }
    let failing = EchoRequest { must: "m".into(), fail_code: Some(7), ..EchoRequest::default() };
    match client.echo(failing).await.unwrap_err() {
        EchoEchoError::EchoError(error) => assert_eq!((error.code, &*error.message), (7, "asked to fail: m")),
        EchoEchoError::Other(error) => panic!("{error}"),
    }
    for i in 0..3 {
        client.ping(format!("note {i}")).await.unwrap();
    }
    // The server counts on several threads; it has counted by the time that it has answered a few calls more.
    let after = EchoRequest { must: "after".into(), ..EchoRequest::default() };
    let mut counted = pings;
    for _ in 0..1000 {
        counted = client.echo(after.clone()).await.unwrap().pings;
        if counted == pings + 3 {
            break;
        }
    }
    assert_eq!(counted, pings + 3);
}
