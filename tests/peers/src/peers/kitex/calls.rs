//! Every kind of call, both ways.

use std::collections::HashMap;
use std::time::Duration;

use rpc::{CallOptions, Code, Codec, DecodeOutcome, Encode, Never, ReplyMetadata, Transport};

use super::{FirstThatListens, NAME, Ours, Way, program, with_clients};
use crate::hop::{Looks, protobuf_requests};
use crate::idl::echo::echo_methods::{EchoArgs, EchoException, PingArgs};
use crate::idl::echo::{EchoEchoError, EchoRequest, EchoResponse};
use crate::idl::hop::{Ask, HopClient, Seen, hop_methods};
use crate::idl::hop_pb;
use crate::program::{Missing, run_checks, serve};
use crate::service::requests;

/// Longer than any answer takes.
const PATIENT: Duration = Duration::from_secs(50);

/// How many checks the program's client makes.
fn checks(way: Way) -> usize {
    let requests = 6;
    let of_thrift = if way.codec == super::Codec::Thrift { 2 } else { 0 };
    let of_a_header = if way.carries() { 6 } else { 0 };
    requests + of_thrift + 2 + of_a_header
}

pub(super) async fn it_calls_us(way: Way) -> Result<(), Missing> {
    let ours = Ours::serve(way).await;
    run_checks(program("client", way, &[&ours.address])?, checks(way)).await;
    Ok(())
}

pub(super) async fn we_call_it(way: Way) -> Result<(), Missing> {
    let server = serve(program("server", way, &[])?).await;
    let connector = || FirstThatListens::of(std::slice::from_ref(&server.address));
    with_clients!(way, connector(), call_all(way.carries()));
    Ok(())
}

fn patient() -> CallOptions {
    CallOptions::new().timeout(PATIENT)
}

async fn call_all<L: Calls>(client: L, carries: bool) {
    client.own_calls().await;
    if carries {
        calls_with_a_header(&client).await;
    } else {
        // The server sleeps on, and a connection may have to wait for it.
        let late = client.look(brief(), Ask { sleep_ms: 500, ..Ask::default() }).await.expect_err("too late");
        assert_eq!(late.code(), Code::DeadlineExceeded, "{late}");
    }
    let unknown = client.named("Hop", "nothing").await.expect_err("an error");
    // Without a header it does not know which service was meant.
    let number = if carries { 1 } else { 20 };
    assert_eq!((unknown.code(), unknown.wire_code()), (Code::Unimplemented, Some(number)), "{unknown:?}");
    // It ends the connection, where it has no header to say so before.
    client.look(patient().idempotent(), Ask::default()).await.expect("an answer after that");
}

fn brief() -> CallOptions {
    CallOptions::new().timeout(Duration::from_millis(50))
}

async fn calls_with_a_header<L: Calls>(client: &L) {
    let before = client.look(patient(), Ask::default()).await.expect("an answer");
    assert!((40_000..=50_000).contains(&before.left_ms), "{before:?}");
    let late = client.look(brief(), Ask { sleep_ms: 60_000, ..Ask::default() }).await.expect_err("too late");
    assert_eq!(late.code(), Code::DeadlineExceeded, "{late}");
    let mut after = before.clone();
    for _ in 0..10_000 {
        after = client.look(patient(), Ask::default()).await.expect("an answer");
        if after.given_up > before.given_up {
            break;
        }
    }
    assert_eq!(after.given_up, before.given_up + 1, "the server keeps the deadline");

    let ask = Ask { business: 404, text: "text".into(), ..Ask::default() };
    let failed = client.look(patient(), ask).await.expect_err("a failure");
    let status = failed.status().expect("a status");
    assert_eq!((status.business_code(), status.message()), (Some(404), "no: text"), "{status:?}");
    assert_eq!(&status.details()[..], br#"{"why":"asked"}"#);

    let forth = patient().metadata("hop", "täglich").persistent_metadata("Chain_of-it", "far");
    let seen = client.look(forth, Ask::default()).await.expect("an answer");
    assert_eq!(seen.transient, HashMap::from([("hop".into(), "täglich".into())]));
    assert_eq!(seen.persistent, HashMap::from([("Chain_of-it".into(), "far".into())]));

    let reply = ReplyMetadata::new();
    let ask = Ask { text: "me".into(), ..Ask::default() };
    client.look(patient().reply_metadata(&reply), ask).await.expect("an answer");
    assert_eq!(reply.take().get_text("back"), Some("for me"));

    // Its servers find a method by its name alone where they do not know the service.
    client.named("Elsewhere", L::LOOK).await.expect("an answer");
}

/// The calls that a schema has for itself.
pub(super) trait Calls: Looks {
    fn own_calls(&self) -> impl Future<Output = ()> + Send;
}

impl<C, S> Calls for HopClient<C, S>
where
    C: Codec
        + Encode<hop_methods::LookArgs>
        + DecodeOutcome<Seen, Never>
        + Encode<EchoArgs>
        + DecodeOutcome<EchoResponse, EchoException>
        + Encode<PingArgs>,
    S: Transport,
{
    async fn own_calls(&self) {
        let client = self.with(patient());
        let mut pings = 0;
        for (name, request) in requests() {
            let response =
                client.echo(request.clone()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(response.request, request, "{name}");
            assert_eq!(response.server, NAME);
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
        let mut counted = pings;
        for _ in 0..10_000 {
            counted = client.echo(EchoRequest::default()).await.expect("an answer").pings;
            if counted == pings + 3 {
                break;
            }
        }
        assert_eq!(counted, pings + 3);
    }
}

impl<C, S> Calls for hop_pb::HopClient<C, S>
where
    C: Codec
        + Encode<hop_pb::Ask>
        + DecodeOutcome<hop_pb::Seen, Never>
        + Encode<hop_pb::EchoRequest>
        + DecodeOutcome<hop_pb::EchoResponse, Never>,
    S: Transport,
{
    async fn own_calls(&self) {
        let client = self.with(patient());
        for (name, request) in protobuf_requests() {
            let response =
                client.echo(request.clone()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(response.request, Some(request), "{name}");
            assert_eq!(response.server, NAME);
        }
    }
}
