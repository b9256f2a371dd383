//! Peers that are not there yet, or not reachable: what waits, what fails, and how it comes back.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use codec_msgpack::Rpc;
use codec_thrift::{Binary, framed};
use futures::future::join_all;
use rpc_core::{
    Body, BoxError, CallOptions, Client, Code, Encode, Place, Request, RequestHead, Response, Router, Sent,
    Speaks, Stage, Transport, TransportError,
};
use rpc_net::{Connect, Dialer, Server, ServerConfig, Stream};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{Answer, Net, PipeConfig, Probe, Running, Text, Wire, method, poll_times, run, until};
use rpc_wire::Limits;
use tests_matrix::{MuxKind, PoolKind};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tower::ServiceExt;
use transport_mux::MuxConfig;
use transport_pool::PoolConfig;

async fn serve() -> (Probe, Wire, Running) {
    let probe = Probe::new();
    let server = Server::new().accept(framed(), Router::new().add(probe.clone()));
    let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
    (probe, wire, server)
}

/// Reaches its server only once it is opened; until then attempts to connect stay without an answer.
#[derive(Clone)]
struct Gate {
    wire: Wire,
    open: Arc<AtomicBool>,
    opened: Arc<Notify>,
}

impl Connect for Gate {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        loop {
            let opened = self.opened.notified();
            if self.open.load(Ordering::SeqCst) {
                return self.wire.connect().await;
            }
            opened.await;
        }
    }

    fn endpoint(&self) -> &Arc<str> {
        self.wire.endpoint()
    }
}

/// Ten thousand calls to a peer that can not be reached, each dropped or timed out while it waits; then the peer comes up.
#[test]
fn c089_waiters_that_give_up_leave_nothing() {
    async fn check<T: Transport + Speaks<Codec = Binary>>(
        make: impl Fn(Gate) -> T,
        waiting: impl Fn(&T) -> usize,
    ) {
        let (_probe, wire, _server) = serve().await;
        let gate = Gate { wire, open: Arc::default(), opened: Arc::default() };
        let transport = make(gate.clone());
        let client = Client::new(transport.clone()).with(patient());
        let impatient = client.with(CallOptions::new().timeout(Duration::from_millis(20)));
        let mut calls = JoinSet::new();
        for i in 0..10_000 {
            let (client, impatient) = (client.clone(), impatient.clone());
            calls.spawn(async move {
                if i % 2 == 0 {
                    let mut call = pin!(client.call::<method::Echo>(&Text::new("dropped")));
                    assert!(poll_times(call.as_mut(), 2).await.is_none());
                } else {
                    let error = impatient.call::<method::Echo>(&Text::new("late")).await.unwrap_err();
                    assert_eq!((error.code(), error.sent()), (Code::DeadlineExceeded, Sent::No), "{error}");
                }
            });
        }
        while let Some(call) = calls.join_next().await {
            call.expect("no panic");
        }
        assert_eq!(waiting(&transport), 0);
        gate.open.store(true, Ordering::SeqCst);
        gate.opened.notify_waiters();
        let answer = client.call::<method::Echo>(&Text::new("there you are")).await;
        assert_eq!(answer.expect("an answer"), Ok(Answer::new("there you are")));
    }
    run(Net::Memory, async {
        let mux = |gate| transport_mux::lazy(gate, framed(), MuxConfig::default());
        check(mux, |mux| mux.gauges().waiting).await;
        let pool = |gate| transport_pool::lazy(gate, framed(), PoolConfig::default());
        check(pool, |pool| pool.gauges().waiting).await;
    });
}

/// A path for a socket of this test.
fn socket(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tests-matrix-{}-{name}", std::process::id()))
}

/// The client is there before the server: calls fail at once and say why; one that may wait does, and is answered when the
/// server comes up. Over a Unix socket, whose name nobody else takes meanwhile.
#[test]
fn c094_a_server_that_starts_later() {
    async fn check<T: Transport + Speaks<Codec = Binary>>(path: PathBuf, make: impl Fn(Dialer) -> T) {
        let endpoint = format!("unix:{}", path.display());
        let client = Client::new(make(Dialer::new(&endpoint))).with(patient());
        for _ in 0..5 {
            let error = client.call::<method::Echo>(&Text::new("too early")).await.unwrap_err();
            assert_eq!(
                (error.code(), error.sent(), error.stage()),
                (Code::Unavailable, Sent::No, Some(Stage::Connect))
            );
            assert_eq!(error.endpoint(), Some(&*endpoint));
        }
        let waiting = client.with(patient().wait_for_ready());
        let waiting = tokio::spawn(waiting.call::<method::Echo>(&Text::new("I can wait")));
        let probe = Probe::new();
        let server = Server::new().accept(framed(), Router::new().add(probe.clone()));
        let bound = server.listen(&endpoint).await.unwrap();
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        let serving = tokio::spawn(async move { bound.serve_until(stopped.notified()).await });
        assert_eq!(waiting.await.unwrap().expect("an answer"), Ok(Answer::new("I can wait")));
        let answer = client.call::<method::Echo>(&Text::new("there")).await;
        assert_eq!(answer.expect("an answer"), Ok(Answer::new("there")));
        drop(client);
        stop.notify_one();
        serving.await.unwrap().unwrap();
        assert!(!path.exists(), "the socket is gone with its server");
    }
    run(Net::Tcp, async {
        check(socket("mux"), |dialer| transport_mux::lazy(dialer, framed(), MuxConfig::default())).await;
        check(socket("pool"), |dialer| transport_pool::lazy(dialer, framed(), PoolConfig::default())).await;
    });
}

/// Two thousand calls over at most eight connections: all are answered, those that came first begin first.
#[test]
fn c098_a_hard_cap_with_fair_waiting() {
    run(Net::Memory, async {
        let (probe, wire, server) = serve().await;
        let config = PoolConfig { max_connections: 8, ..PoolConfig::default() };
        let pool = transport_pool::lazy(wire.clone(), framed(), config);
        let client = Client::new(pool.clone()).with(patient());
        let calls: Vec<_> =
            (0..2000).map(|i| tokio::spawn(client.call::<method::Hold>(&Text::new(i.to_string())))).collect();
        until("as many run as may", || probe.holding() == 8).await;
        until("the others wait", || pool.gauges().waiting == 1992).await;
        for done in (8..=2000).step_by(8) {
            probe.release(8);
            until("eight more have ended", || calls.iter().filter(|call| call.is_finished()).count() == done)
                .await;
            assert!(
                calls[..done].iter().all(tokio::task::JoinHandle::is_finished),
                "not first come, first served"
            );
        }
        for answer in join_all(calls).await {
            answer.expect("no panic").expect("an answer").unwrap_or_else(|never| match never {});
        }
        assert_eq!((wire.dials(), server.gauges().accepted()), (8, 8));
        let gauges = pool.gauges();
        assert_eq!((gauges.in_use, gauges.waiting, gauges.dialling), (0, 0, 0));
    });
}

/// A mux whose connections die gets new ones, and spreads its calls over them again.
#[test]
fn a_mux_replaces_its_dead_connections() {
    run(Net::Memory, async {
        let (_probe, wire, mut server) = serve().await;
        let config = MuxConfig { connections: 3, ..MuxConfig::default() };
        let mux = transport_mux::lazy(wire.clone(), framed(), config.clone());
        let client = Client::new(mux.clone()).with(patient());
        join_all((0..30).map(|i| client.call::<method::Echo>(&Text::new(i.to_string())))).await;
        until("all are open", || mux.gauges().connections == 3).await;
        assert_eq!(wire.dials(), 3);
        server.stopped().await;
        until("all are seen to be gone", || mux.gauges().connections == 0).await;
        let error = client.call::<method::Echo>(&Text::new("nobody")).await.unwrap_err();
        assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::No), "{error}");
    });
    // With the server still there, one cut connection is one more dial.
    run(Net::Memory, async {
        let probe = Probe::new();
        let config = ServerConfig { stall_timeout: Duration::from_secs(1), ..ServerConfig::default() };
        let server = Server::new().config(config).accept(framed(), Router::new().add(probe));
        let cut = rpc_test::Cut { way: rpc_test::Way::ToClient, after: 29, how: rpc_test::How::Reset };
        let first = PipeConfig { cut: Some(cut), ..PipeConfig::default() };
        let (wire, _server) = Wire::to(server, Net::Memory, PipeConfig::default(), [first]).await;
        let config = MuxConfig { connections: 2, ..MuxConfig::default() };
        let mux = transport_mux::lazy(wire.clone(), framed(), config);
        let client = Client::new(mux.clone()).with(patient().idempotent());
        for i in 0..20 {
            let answer = client.call::<method::Echo>(&Text::new(i.to_string())).await;
            assert_eq!(answer.expect("an answer"), Ok(Answer::new(i.to_string())));
        }
        until("both are open", || mux.gauges().connections == 2).await;
        assert_eq!(wire.dials(), 3);
    });
}

/// A peer that reads nothing makes a client hold so much and no more, however many calls give up: further ones wait, and none of
/// those has left. Once it reads, the next call is answered.
#[test]
fn calls_to_a_peer_that_reads_nothing_wait_above_a_bound() {
    run(Net::Memory, async {
        let pipe = PipeConfig { capacity: 4096, ..PipeConfig::default() };
        let (wire, mut script) = Wire::to_script(pipe);
        let limits = Limits { max_unsent: 64 * 1024, ..Limits::default() };
        let config = MuxConfig { connections: 1, limits, ..MuxConfig::default() };
        let mux = transport_mux::lazy(wire, framed(), config);
        let client = Client::new(mux.clone()).with(CallOptions::new().timeout(Duration::from_secs(1)));
        let text = Text::new("x".repeat(1024));
        let mut left = 0;
        for _ in 0..5 {
            let calls = join_all((0..300).map(|_| client.call::<method::Echo>(&text))).await;
            let errors: Vec<_> = calls.into_iter().map(Result::unwrap_err).collect();
            assert!(errors.iter().all(|error| error.code() == Code::DeadlineExceeded), "{errors:?}");
            left += errors.iter().filter(|error| error.sent() != Sent::No).count();
        }
        // What the pipe holds, what is being written, and what waits behind that.
        assert!((64..=4 + 2 * 65).contains(&left), "{left} calls of 1 KiB were let in");
        assert_eq!((mux.gauges().in_flight, mux.gauges().waiting), (0, 0));

        let mut peer = script.accept().await;
        let last = tokio::spawn(client.with(patient()).call::<method::Echo>(&Text::new("hi")));
        let frame = loop {
            let frame = peer.take_frame().await;
            if frame.len() < 100 {
                break frame;
            }
        };
        let id = frame.get(12..16).unwrap();
        let answer =
            [&[0x80, 1, 0, 2, 0, 0, 0, 4][..], b"echo", id, &[0x0b, 0, 0, 0, 0, 0, 2], b"ok", &[0]].concat();
        peer.send(&[&u32::try_from(answer.len()).unwrap().to_be_bytes()[..], &answer].concat()).await;
        assert_eq!(last.await.unwrap().unwrap(), Ok(Answer::new("ok")));
    });
}

/// A peer that may call too: what it asks is refused, and an answer behind its calls is not kept waiting.
#[test]
fn calls_of_the_peer_hold_no_answer_up() {
    async fn check<K: Kind>() {
        let (wire, mut script) = Wire::to_script(PipeConfig::default());
        let client = Client::new(K::make(wire, Rpc::new(), Settings::default())).with(patient());
        let call = tokio::spawn(client.call::<method::Echo>(&Text::new("hi")));
        let mut peer = script.accept().await;
        // [0, id, "echo", [...]]
        let request = peer.take(8).await;
        let id = request.get(2).copied().unwrap();
        let asked = [0x94, 0, 1, 0xa1, b'm', 0x90].repeat(5000);
        let answer = [&[0x94, 1, id, 0xc0, 0xa2][..], b"ok"].concat();
        peer.send(&[asked, answer].concat()).await;
        assert_eq!(call.await.unwrap().unwrap(), Ok(Answer::new("ok")));
    }
    run(Net::Memory, async {
        check::<MuxKind>().await;
        check::<PoolKind>().await;
    });
}

/// A transport may be dropped as soon as it was called, as `oneshot` of tower does.
#[test]
fn a_call_outlives_its_transport() {
    async fn check<K: Kind>() {
        let (_probe, wire, _server) = serve().await;
        let transport = K::make(wire, framed(), Settings::default());
        let mut body = bytes::BytesMut::new();
        Binary.encode(Place::Arguments, &Text::new("hi"), &mut body).unwrap();
        let head = RequestHead::of::<method::Echo>();
        let request = Request { head, body: Body::Once(body.freeze()) };
        let response = transport.oneshot(request).await.map_err(Into::into);
        let response: Result<Response<Body>, BoxError> = response;
        assert!(response.unwrap().head.status.is_ok());
    }
    run(Net::Memory, async {
        check::<MuxKind>().await;
        check::<PoolKind>().await;
    });
}

/// A call that waits and is not polled is served in its turn, and holds nobody up.
#[test]
fn a_call_that_is_not_polled_holds_nobody_up() {
    run(Net::Memory, async {
        let (_probe, wire, _server) = serve().await;
        let gate = Gate { wire, open: Arc::default(), opened: Arc::default() };
        let config = MuxConfig { connections: 1, ..MuxConfig::default() };
        let client = Client::new(transport_mux::lazy(gate.clone(), framed(), config)).with(patient());
        let mut parked = pin!(client.call::<method::Echo>(&Text::new("parked")));
        assert!(poll_times(parked.as_mut(), 1).await.is_none());
        let others = join_all((0..10).map(|i| client.call::<method::Echo>(&Text::new(i.to_string()))));
        let open = async {
            gate.open.store(true, Ordering::SeqCst);
            gate.opened.notify_waiters();
        };
        let (others, ()) = tokio::join!(others, open);
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(parked.await.unwrap(), Ok(Answer::new("parked")));
    });
}

/// A client outlives the runtime that made its connections, as one in a `static` does among tests.
#[test]
fn the_end_of_a_runtime_is_the_end_of_a_connection() {
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (first, second, third) = (runtime(), runtime(), runtime());
    let probe = Probe::new();
    let address = first.block_on(async {
        let server = Server::new().accept(framed(), Router::new().add(probe.clone())).listen("127.0.0.1:0");
        let server = server.await.unwrap();
        let address = server.local_addr().unwrap().to_string();
        tokio::spawn(server.serve());
        address
    });
    let config = MuxConfig { connections: 1, ..MuxConfig::default() };
    let mux = second.block_on(transport_mux::connect_with(Dialer::new(&address), framed(), config)).unwrap();
    let client = Client::new(mux).with(patient());
    assert!(second.block_on(client.call::<method::Echo>(&Text::new("one"))).is_ok());
    let held = third.spawn(client.call::<method::Hold>(&Text::new("held")));
    third.block_on(until("it runs", || probe.holding() == 1));
    drop(second);
    let error = third.block_on(held).unwrap().unwrap_err();
    assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::Maybe), "{error}");
    assert!(third.block_on(client.call::<method::Echo>(&Text::new("two"))).is_ok());
}
