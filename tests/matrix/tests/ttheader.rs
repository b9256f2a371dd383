//! TTHeader: the transport suite over both transports, and what only a header carries, from end to end.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use bytes::{Buf, Bytes};
use codec_protobuf::KitexHeader;
use codec_thrift::{Binary, BinaryHeader, CompactHeader};
use rpc_core::{
    Body, CallOptions, Client, Code, Name, Request, RequestHead, Response, ResponseHead, Router, Scope, Sent,
    Status, Transport, Value,
};
use rpc_net::Server;
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{Net, PipeConfig, PipeEnd, Probe, Running, Wire, run, transport_suite};
use rpc_wire::{Framing, Payload, TtHeader, TtHeaderConfig, WriteBuf};
use tests_matrix::{MuxKind, PoolKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use tower::service_fn;

/// Unframed, with checksums.
fn bare() -> TtHeader<CompactHeader> {
    let config = TtHeaderConfig { payload: Payload::Bare, checksum: true, ..TtHeaderConfig::default() };
    TtHeader::new(CompactHeader).with(config)
}

mod mux {
    use super::*;

    transport_suite!(thrift, MuxKind, TtHeader::new(BinaryHeader::new()));
    transport_suite!(bare_compact_thrift, MuxKind, bare());
    transport_suite!(kitex_protobuf, MuxKind, TtHeader::new(KitexHeader), encodes_all);
}

mod pool {
    use super::*;

    transport_suite!(thrift, PoolKind, TtHeader::new(BinaryHeader::new()));
    transport_suite!(kitex_protobuf, PoolKind, TtHeader::new(KitexHeader), encodes_all);
}

/// A proxy's view of a server: the head and the bytes of each call go to `answer`.
async fn served<F>(answer: F) -> (Wire, Running)
where
    F: Fn(&RequestHead) -> ResponseHead + Clone + Send + Sync + 'static,
{
    let backend = service_fn(move |request: Request<Body>| {
        let head = answer(&request.head);
        ready(Ok::<_, Infallible>(Response { head, body: request.body }))
    });
    let server = Server::new().accept(TtHeader::new(BinaryHeader::new()), Router::new().fallback(backend));
    Wire::to(server, Net::Memory, PipeConfig::default(), []).await
}

fn client(wire: Wire) -> Client<Binary, impl Transport> {
    let framing = TtHeader::new(BinaryHeader::new());
    Client::new(MuxKind::make(wire, framing, Settings::default())).with(patient())
}

fn work() -> RequestHead {
    RequestHead {
        method: Name::from_static("work"),
        service: Name::from_static("Work"),
        ..RequestHead::default()
    }
}

#[test]
fn metadata_goes_there_and_back() {
    run(Net::Memory, async {
        let (wire, _server) = served(|head| {
            let mut answer = ResponseHead::ok();
            for (key, value, scope) in head.metadata.iter() {
                let Value::Text(text) = value else { panic!("no text") };
                answer.metadata.insert(format!("{key}.{scope:?}"), format!("{text} of {}", head.service));
            }
            answer
        })
        .await;
        let mut head = work();
        head.metadata.insert("one-hop", "1");
        head.metadata.insert_scoped("Chain", "2", Scope::Persistent);
        head.metadata.insert("gdpr-token", "secret");
        let answer = client(wire).call_raw(head, Bytes::from_static(b"\0")).await.unwrap();
        let text = |key| answer.head.metadata.get_text(key);
        assert_eq!(text("one-hop.Transient"), Some("1 of Work"));
        assert_eq!(text("Chain.Persistent"), Some("2 of Work"));
        assert_eq!(text("gdpr-token.Transient"), Some("secret of Work"));
        assert_eq!(answer.head.metadata.len(), 3);
    });
}

/// The first call of a connection, and one after a rest, say how long they have.
#[test]
fn deadlines_arrive() {
    async fn check<K: Kind>() {
        let (wire, _server) = served(|head| {
            let left = head.deadline.map(|at| at.saturating_duration_since(Instant::now().into_std()));
            ResponseHead::failed(Status::unknown(format!("{left:?}")))
        })
        .await;
        let framing = TtHeader::new(BinaryHeader::new());
        let client = Client::<Binary, _>::new(K::make(wire, framing, Settings::default()));
        let client = client.with(CallOptions::new().timeout(Duration::from_millis(1500)));
        for _ in 0..2 {
            let answer = client.call_raw(work(), Bytes::from_static(b"\0")).await.unwrap();
            assert_eq!(answer.head.status.unwrap_err().message(), "Some(1.5s)");
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
    }
    run(Net::Memory, async {
        check::<MuxKind>().await;
        check::<PoolKind>().await;
    });
}

#[test]
fn business_errors_arrive_whole_and_pass_through_a_proxy() {
    run(Net::Memory, async {
        let details = Bytes::from_static(b"{\"field\":\"name\"}");
        let status = Status::business(1404, "no such user").with_details(details);
        let sent = status.clone();
        let (wire, _server) = served(move |_| ResponseHead::failed(sent.clone())).await;
        let backend = client(wire);
        let answer = backend.call_raw(work(), Bytes::from_static(b"\0")).await.unwrap();
        assert_eq!((answer.head.status, answer.body.len()), (Err(status.clone()), 0));

        let proxy = service_fn(move |request: Request<Body>| {
            let Body::Once(body) = request.body else { panic!("a stream") };
            let call = backend.call_raw(request.head, body);
            async move { call.await.map(|answer| Response { head: answer.head, body: Body::Once(answer.body) }) }
        });
        let server = Server::new().accept(TtHeader::new(BinaryHeader::new()), Router::new().fallback(proxy));
        let (wire, _proxy) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let answer = client(wire).call_raw(work(), Bytes::from_static(b"\0")).await.unwrap();
        assert_eq!(answer.head.status, Err(status));
    });
}

/// What the header can not spell fails the one call that wanted it, and nothing of it is sent.
#[test]
fn metadata_that_can_not_be_spelled_fails_its_call_alone() {
    run(Net::Memory, async {
        let (wire, _server) = served(|head| {
            let mut answer = ResponseHead::ok();
            if head.metadata.get("spoil").is_some() {
                answer.metadata.insert("crrst", "1");
            }
            answer
        })
        .await;
        let (wire, dialled) = (wire.clone(), wire);
        let client = client(wire);
        let call = |key: &'static str, value: &str| {
            let mut head = work();
            head.metadata.insert(key, value);
            client.call_raw(head, Bytes::from_static(b"\0"))
        };
        let error = call("key", "").await.unwrap_err();
        assert_eq!(error.sent(), Sent::No, "{error}");
        let spoiled = call("spoil", "it").await.unwrap().head.status.unwrap_err();
        assert_eq!(spoiled.code(), Code::Internal, "{spoiled}");
        assert_eq!(call("key", "value").await.unwrap().head.status, Ok(()));
        assert_eq!(dialled.dials(), 1);
    });
}

/// A server that stops says so between its answers, and answers all the same what was on its way.
#[test]
fn no_call_fails_when_a_server_goes_away() {
    run(Net::Memory, async {
        let protocol = TtHeader::new(BinaryHeader::new());
        let (wire, mut server) = served(|_| ResponseHead::ok()).await;
        let client =
            Client::<Binary, _>::new(MuxKind::make(wire, protocol, Settings::default())).with(patient());
        // The connection is in use when the server is told to stop.
        let first = client.call_raw(work(), Bytes::from_static(b"\0")).await.unwrap();
        assert!(first.head.status.is_ok());
        let running =
            futures::future::join_all((0..200).map(|_| client.call_raw(work(), Bytes::from_static(b"\0"))));
        let stopping = async {
            tokio::task::yield_now().await;
            server.stopped().await;
        };
        let (answers, ()) = tokio::join!(running, stopping);
        for answer in answers {
            assert_eq!(answer.unwrap().head.status, Ok(()));
        }
    });
}

/// The bytes of a call of `probe.Probe`'s method `echo`, behind a header that names a service.
fn asked(service: &'static str, method: &'static str) -> Vec<u8> {
    let config = TtHeaderConfig { out_of_order: false, ..TtHeaderConfig::default() };
    let head = RequestHead {
        service: Name::from_static(service),
        method: Name::from_static(method),
        ..RequestHead::default()
    };
    let body = Bytes::from_static(b"\x0b\0\x01\0\0\0\x02hi\0");
    let mut bytes = WriteBuf::new();
    let framing = TtHeader::new(BinaryHeader::new()).with(config);
    framing.encode_request(1, &head, &body, &mut bytes).unwrap();
    bytes.copy_to_bytes(bytes.remaining()).to_vec()
}

async fn answer_to(raw: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin), request: &[u8]) -> Vec<u8> {
    raw.write_all(request).await.unwrap();
    let mut bytes = vec![0; 4];
    raw.read_exact(&mut bytes).await.unwrap();
    let len = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    bytes.resize(4 + usize::try_from(len).unwrap(), 0);
    raw.read_exact(&mut bytes[4..]).await.unwrap();
    bytes
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A client that makes one call at a time hears with an answer that its server goes, so it is asked for one more call.
#[test]
fn c125_a_connection_that_is_idle_when_its_server_stops_is_kept_for_a_call_that_is_on_its_way() {
    run(Net::Memory, async {
        let server =
            Server::new().accept(TtHeader::new(BinaryHeader::new()), Router::new().add(Probe::new()));
        let (wire, mut server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let (mut used, mut unused) = (wire.dial_pipe(), wire.dial_pipe());
        for raw in [&mut used, &mut unused] {
            assert!(!holds(&answer_to(raw, &asked("Probe", "echo")).await, b"crrst"));
        }
        let began = Instant::now();
        server.begin_stop();
        tokio::time::sleep(Duration::from_millis(150)).await;
        let answer = answer_to(&mut used, &asked("Probe", "echo")).await;
        assert!(holds(&answer, b"crrst\0\x011") && holds(&answer, b"\x02hi"), "{answer:x?}");
        let ends = async |raw: &mut PipeEnd| {
            assert_eq!(raw.read(&mut [0]).await.unwrap(), 0);
            began.elapsed().as_millis()
        };
        let elapsed = tokio::join!(ends(&mut unused), ends(&mut used));
        assert!((200..=210).contains(&elapsed.0) && (350..=360).contains(&elapsed.1), "{elapsed:?}");
        server.stopped().await;
    });
}

/// The name of the service in the header is advice, as it is for Kitex's servers, but not that in a message.
#[test]
fn a_method_of_one_service_is_found_though_the_header_names_another() {
    run(Net::Memory, async {
        let serve = |router| {
            let server = Server::new().accept(TtHeader::new(BinaryHeader::new()), router);
            Wire::to(server, Net::Memory, PipeConfig::default(), [])
        };
        let (wire, _server) = serve(Router::new().add(Probe::new())).await;
        let mut raw = wire.dial_pipe();
        for service in ["", "Probe", "probe.Probe", "Elsewhere"] {
            assert!(holds(&answer_to(&mut raw, &asked(service, "echo")).await, b"\x02hi"), "{service}");
        }
        for (service, method, refusal) in [
            ("Elsewhere", "nothing", "unknown service \"Elsewhere\""),
            ("Probe", "nothing", "unknown method \"nothing\" of service \"Probe\""),
            ("Probe", "Elsewhere:echo", "unknown service \"Elsewhere\""),
        ] {
            let answer = answer_to(&mut raw, &asked(service, method)).await;
            assert!(holds(&answer, refusal.as_bytes()), "{service} {method}: {answer:x?}");
        }
        // A proxy is asked before anything is guessed.
        let backend = service_fn(|_| {
            ready(Ok::<_, Infallible>(Response { head: ResponseHead::ok(), body: Body::empty() }))
        });
        let (wire, _server) = serve(Router::new().add(Probe::new()).fallback(backend)).await;
        assert!(!holds(&answer_to(&mut wire.dial_pipe(), &asked("Elsewhere", "echo")).await, b"\x02hi"));
    });
}
