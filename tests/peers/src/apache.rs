//! Apache Thrift's Python programs of `scripts`, in every protocol and transport that they speak.

use std::path::{Path, PathBuf};

use rpc::{DecodeOutcome, Encode, Speaks, Transport};
use tokio::process::Command;

use crate::idl::echo::echo_methods::{EchoArgs, EchoException, PingArgs};
use crate::idl::echo::{EchoClient, EchoEchoError, EchoRequest, EchoResponse};
use crate::program::{Running, installed, python, run, script, serve};
use crate::service::requests;

/// The peers' Python, where Thrift's compiler is installed too: the scripts generate their types when they start.
///
/// # Panics
/// Where the peers are required and one is missing.
pub fn apache_python() -> Option<PathBuf> {
    installed("thrift", "apt-get install thrift-compiler").and_then(|_| python())
}

/// Runs its client against our server on a port of 127.0.0.1. The options are the script's.
///
/// # Panics
/// When a check of the client's fails.
pub async fn client_passes(python: &Path, port: u16, options: &[&str]) {
    let mut client = Command::new(python);
    client.arg(script("apache_client.py")).args(["127.0.0.1", &port.to_string()]);
    let printed = run(client.args(options)).await;
    assert!(printed.trim_end().ends_with("8 passed, 0 failed"), "{options:?}\n{printed}");
}

/// Starts its server. The options are the script's.
///
/// # Panics
/// When it does not start.
pub async fn server(python: &Path, options: &[&str]) -> Running {
    serve(python, |command, host, port| {
        command.arg("-u").arg(script("apache_server.py")).args([host, &port.to_string()]).args(options);
    })
    .await
}

/// Makes all calls with a client of ours, to its server.
///
/// # Panics
/// When an answer is another than it should be.
pub async fn call_all<S: Transport + Speaks>(transport: S)
where
    S::Codec: Encode<EchoArgs> + DecodeOutcome<EchoResponse, EchoException> + Encode<PingArgs>,
{
    let client = EchoClient::new(transport);
    let mut pings = 0;
    for (name, request) in requests() {
        let response = client.echo(request.clone()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(response.request, request, "{name}");
        assert_eq!(response.server, "apache-py");
        pings = response.pings;
    }
    let failing = EchoRequest { must: "m".into(), fail_code: Some(7), ..EchoRequest::default() };
    match client.echo(failing).await {
        Err(EchoEchoError::EchoError(error)) => {
            assert_eq!((error.code, &*error.message), (7, "asked to fail: m"));
        }
        other => panic!("{other:?}"),
    }
    for i in 0..3 {
        client.ping(format!("note {i}")).await.unwrap_or_else(|error| panic!("ping: {error}"));
    }
    // The server counts on several threads; it has counted by the time that it has answered a few calls more.
    let after = EchoRequest { must: "after".into(), ..EchoRequest::default() };
    let mut counted = pings;
    for _ in 0..1000 {
        let response = client.echo(after.clone()).await.unwrap_or_else(|error| panic!("after: {error}"));
        counted = response.pings;
        if counted == pings + 3 {
            break;
        }
    }
    assert_eq!(counted, pings + 3);
}
