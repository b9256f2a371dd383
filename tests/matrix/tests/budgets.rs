//! What one connection may make a server hold: answers that wait, requests, handlers. Counted in calls and bytes; in memory and
//! with a clock that stands still.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use codec_thrift::BinaryHeader;
use rpc_core::{Body, BoxError, CallOptions, Client, Dispatch, Request, Response, ResponseHead, Router};
use rpc_net::{Server, ServerConfig};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{Net, PipeConfig, PipeEnd, Probe, Running, Text, Wire, method, run, step, until};
use rpc_wire::{Limits, TtHeader};
use tests_matrix::MuxKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tower::Service;
use tower::limit::GlobalConcurrencyLimitLayer;

const CALL: u8 = 1;
/// No kind of message that Thrift knows.
const NO_KIND: u8 = 9;

/// A framed message of a method with a text.
fn message(kind: u8, name: &str, id: u32, text: &str) -> Vec<u8> {
    let length = |text: &str| u32::try_from(text.len()).unwrap().to_be_bytes();
    let message = [
        &[0x80, 1, 0, kind][..],
        &length(name),
        name.as_bytes(),
        &id.to_be_bytes(),
        &[0x0b, 0, 1],
        &length(text),
        text.as_bytes(),
        &[0],
    ]
    .concat();
    [&u32::try_from(message.len()).unwrap().to_be_bytes(), &message[..]].concat()
}

/// The next frame without its length.
async fn frame(raw: &mut PipeEnd) -> Vec<u8> {
    let len = raw.read_u32().await.expect("an answer");
    let mut frame = vec![0; usize::try_from(len).unwrap()];
    raw.read_exact(&mut frame).await.expect("a whole answer");
    frame
}

fn probe_inline(probe: &Probe) -> Router<(codec_thrift::Binary,)> {
    Router::new().add_with(probe.clone(), Dispatch::Inline)
}

async fn serve(router: Router<(codec_thrift::Binary,)>, config: ServerConfig) -> (Wire, Running) {
    let server = Server::new().config(config).accept(codec_thrift::framed(), router);
    Wire::to(server, Net::Memory, PIPE, []).await
}

async fn settle() {
    for _ in 0..200 {
        step().await;
    }
}

const PIPE: PipeConfig = PipeConfig { chunk: 64 * 1024, capacity: 64 * 1024, cut: None };
const BUDGET: usize = 100 * 1024;
/// What a connection may have read and not looked at, in bytes.
const READ: usize = 128 * 1024;

fn budget() -> ServerConfig {
    ServerConfig { write_budget: BUDGET, ..ServerConfig::default() }
}

/// A client that reads nothing for a while is not read from either, whatever it is owed; when it reads, it gets all.
async fn held_back(router: Router<(codec_thrift::Binary,)>, request: &[u8], answer: usize) {
    let (wire, server) = serve(router, budget()).await;
    let (mut from, mut to) = tokio::io::split(wire.dial_pipe());
    let sent = wire.traffic()[0].clone();
    let count = 2_000_000 / request.len();
    let all = request.repeat(count);
    let writing = tokio::spawn(async move { to.write_all(&all).await });
    let mut before = 0;
    loop {
        settle().await;
        let now = sent.written();
        if now == before && now > 0 {
            break;
        }
        before = now;
    }
    // Answers fill the budget and the pipe; one read may bring it above that, if each answer is longer than its request.
    let answered = (BUDGET + PIPE.capacity) / answer + 2;
    let most = answered * request.len() + READ + PIPE.capacity;
    let taken = usize::try_from(before).unwrap();
    assert!(taken <= most, "{taken} bytes of requests were taken, {most} are allowed");
    assert!(!writing.is_finished(), "the server took all requests");
    for n in 0..count {
        let len = from.read_u32().await.unwrap_or_else(|error| panic!("answer {n}: {error}"));
        let mut rest = vec![0; usize::try_from(len).unwrap()];
        from.read_exact(&mut rest).await.unwrap();
        assert_eq!(rest.len() + 4, answer);
    }
    assert!(writing.await.unwrap().is_ok());
    until("nothing is left", || server.gauges().in_flight() == 0).await;
}

/// The length of the one answer to a request.
async fn answer_to(router: Router<(codec_thrift::Binary,)>, request: &[u8]) -> usize {
    let (wire, _server) = serve(router, budget()).await;
    let mut raw = wire.dial_pipe();
    raw.write_all(request).await.unwrap();
    frame(&mut raw).await.len() + 4
}

macro_rules! held_back {
    ($(#[$doc:meta] $name:ident: $router:expr, $request:expr;)+) => {$(
        #[$doc]
        #[test]
        fn $name() {
            run(Net::Memory, async {
                let request = $request;
                let answer = answer_to($router, &request).await;
                held_back($router, &request, answer).await;
            });
        }
    )+};
}

held_back! {
    /// Failures count although they have no payload.
    failures_count_as_unsent: Router::new(), message(CALL, "nope", 1, "");
    /// What the protocol answers by itself counts.
    refused_messages_count_as_unsent: Router::new(), message(NO_KIND, "nope", 1, "");
    /// The heads of answers count.
    the_heads_of_answers_count_as_unsent: Router::new().fallback(tower::service_fn(nothing)), message(CALL, &"m".repeat(2000), 1, "");
}

async fn nothing(_: Request<Body>) -> Result<Response<Body>, Infallible> {
    Ok(Response { head: ResponseHead::ok(), body: Body::Once(vec![0].into()) })
}

/// Answers that wait for an earlier one of their id count. The call that they wait for is never held up by them.
#[test]
fn held_answers_count_as_unsent() {
    run(Net::Memory, async {
        let answer = 10 * 1024;
        let probe = Probe::new();
        let (wire, server) = serve(probe_inline(&probe), budget()).await;
        let mut raw = wire.dial_pipe();
        let calls = 300;
        raw.write_all(&message(CALL, "hold", 7, "first")).await.unwrap();
        raw.write_all(&message(CALL, "big", 7, &answer.to_string()).repeat(calls)).await.unwrap();
        until("the first runs", || probe.holding() == 1).await;
        settle().await;
        assert_eq!(probe.big(), BUDGET.div_ceil(answer), "so many answers fill the budget");
        assert!(server.gauges().in_flight() > probe.big(), "they are held, and count");
        probe.release(1);
        assert_eq!(frame(&mut raw).await.len(), 29);
        for _ in 0..calls {
            assert!(frame(&mut raw).await.len() > answer);
        }
        assert_eq!(probe.big(), calls);
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

const ONEWAY: u8 = 4;

/// The handlers of calls that want no answer outlive a connection that breaks. They count until they end, and a stop waits.
#[test]
fn handlers_that_outlive_their_connection_count() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let (wire, mut server) = serve(probe_inline(&probe), ServerConfig::default()).await;
        let mut raw = wire.dial_pipe();
        let calls = 10;
        raw.write_all(&message(CALL, "hold", 1, "unheard")).await.unwrap();
        raw.write_all(&message(ONEWAY, "hold", 2, "alone").repeat(calls)).await.unwrap();
        until("all run", || probe.holding() == calls + 1).await;
        raw.reset();
        until("the caller is gone", || probe.dropped() == 1).await;
        settle().await;
        let gauges = server.gauges().clone();
        assert_eq!((probe.holding(), gauges.in_flight(), gauges.connections()), (calls, calls, 1));
        probe.release(1);
        until("one has ended", || gauges.in_flight() == calls - 1).await;
        server.begin_stop();
        settle().await;
        assert!(!server.has_stopped(), "it stopped under its handlers");
        probe.release_all();
        server.stopped().await;
        assert_eq!((probe.dropped(), gauges.in_flight(), gauges.connections()), (1, 0, 0));
    });
}

#[test]
fn a_stop_cuts_handlers_that_outlive_their_connection() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let (wire, mut server) = serve(probe_inline(&probe), ServerConfig::default()).await;
        let mut raw = wire.dial_pipe();
        raw.write_all(&message(ONEWAY, "hold", 1, "alone")).await.unwrap();
        until("it runs", || probe.holding() == 1).await;
        raw.reset();
        settle().await;
        server.begin_stop();
        server.stopped().await; // the clock moves on by itself to the end of the drain
        assert_eq!((probe.holding(), probe.dropped(), server.gauges().in_flight()), (0, 1, 0));
    });
}

/// Panics where nobody looks for it: when it is asked whether it is ready, and when the future of a call is dropped.
#[derive(Clone)]
struct Sore<S> {
    inner: S,
    asked: usize,
}

/// The request at which `poll_ready` panics.
const SORE: usize = 3;

impl<S> Service<Request<Body>> for Sore<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Falling<Pin<Box<S::Future>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.asked += 1;
        assert_ne!(self.asked, SORE, "when it is asked whether it is ready");
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let falls = request.head.method != "echo";
        Falling { future: Box::pin(self.inner.call(request)), falls }
    }
}

struct Falling<F> {
    future: F,
    falls: bool,
}

impl<T, E: Into<BoxError>, F: Future<Output = Result<T, E>> + Unpin> Future for Falling<F> {
    type Output = Result<T, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.future).poll(cx).map_err(Into::into)
    }
}

impl<F> Drop for Falling<F> {
    fn drop(&mut self) {
        assert!(!self.falls, "when it is dropped");
    }
}

#[test]
fn a_panic_costs_one_call_wherever_it_comes() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let layer = tower::layer::layer_fn(|inner| Sore { inner, asked: 0 });
        let server = Server::new().accept(codec_thrift::framed(), probe_inline(&probe)).layer(layer);
        let (wire, server) = Wire::to(server, Net::Memory, PIPE, []).await;
        let mut raw = wire.dial_pipe();
        // These are dropped with their connections, one of which ends and one of which breaks.
        let mut breaks = wire.dial_pipe();
        for raw in [&mut raw, &mut breaks] {
            raw.write_all(&message(CALL, "hold", 1, "held").repeat(2)).await.unwrap();
        }
        until("all run", || probe.holding() == 4).await;
        let failure = 3;
        for (id, name, kind) in [(2, "echo", failure), (3, "echo", 2), (4, "big", failure), (5, "echo", 2)] {
            raw.write_all(&message(CALL, name, id, "10")).await.unwrap();
            let answer = frame(&mut raw).await;
            let at = 8 + name.len();
            assert_eq!((answer[3], &answer[at..at + 4]), (kind, &id.to_be_bytes()[..]), "{name} {id}");
        }
        breaks.reset();
        until("those are gone", || probe.holding() == 2 && server.gauges().connections() == 1).await;
        drop(raw);
        until("nothing is left", || probe.holding() == 0 && server.gauges().connections() == 0).await;
        assert_eq!(server.gauges().in_flight(), 0);
    });
}

/// A peer goes under many calls: each of their handlers is dropped, those of oneway calls and of other peers are not.
#[test]
fn many_calls_end_at_once() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let (wire, server) = serve(probe_inline(&probe), ServerConfig::default()).await;
        let (mut goes, mut stays) = (wire.dial_pipe(), wire.dial_pipe());
        let calls = 1000;
        for id in 0..calls {
            goes.write_all(&message(CALL, "hold", id, "goes")).await.unwrap();
            goes.write_all(&message(ONEWAY, "hold", id, "oneway")).await.unwrap();
            stays.write_all(&message(CALL, "hold", id, "stays")).await.unwrap();
        }
        let calls = usize::try_from(calls).unwrap();
        until("all run", || probe.holding() == 3 * calls).await;
        drop(goes);
        until("those are dropped", || probe.dropped() == calls).await;
        settle().await;
        assert_eq!((probe.dropped(), server.gauges().in_flight()), (calls, 2 * calls));
        probe.release_all();
        for _ in 0..calls {
            frame(&mut stays).await;
        }
        until("nothing is left", || probe.holding() == 0 && server.gauges().in_flight() == 0).await;
        assert_eq!(probe.dropped(), calls);
    });
}

/// A connection of which no more can be taken, since so many calls are in flight or the service is not ready: that its peer goes
/// is noticed all the same. What it sent before and wants no answer to is still done.
#[test]
fn a_peer_that_goes_while_nothing_is_taken_from_it_is_noticed() {
    run(Net::Memory, async {
        let full = ServerConfig {
            limits: Limits { max_in_flight: 3, ..Limits::default() },
            ..ServerConfig::default()
        };
        for (config, ready) in [(full, 100), (ServerConfig::default(), 3)] {
            for (how, oneway) in [("reset", 0), ("closed", 2)] {
                let probe = Probe::new();
                let server =
                    Server::new().config(config.clone()).accept(codec_thrift::framed(), probe_inline(&probe));
                let server = server.layer(GlobalConcurrencyLimitLayer::new(ready));
                let (wire, server) = Wire::to(server, Net::Memory, PIPE, []).await;
                let mut raw = wire.dial_pipe();
                raw.write_all(&message(CALL, "hold", 1, "held").repeat(3)).await.unwrap();
                until("as many run as may", || probe.holding() == 3).await;
                let unread = [message(CALL, "hold", 2, "unread"), message(ONEWAY, "fire", 2, "unread")];
                raw.write_all(&unread.concat().repeat(2)).await.unwrap();
                settle().await;
                assert_eq!((probe.began(), probe.fired()), (3, 0), "{how}");
                match how {
                    "reset" => raw.reset(),
                    _ => raw.shutdown().await.unwrap(),
                }
                until("it has ended", || server.gauges().connections() == 0).await;
                assert_eq!((probe.began(), probe.dropped(), probe.fired()), (3, 3, oneway), "{how}");
                assert_eq!(server.gauges().in_flight(), 0);
            }
        }
    });
}

/// What is read of a peer of which nothing can be taken has a bound.
#[test]
fn little_is_read_while_nothing_is_taken() {
    run(Net::Memory, async {
        let config = ServerConfig {
            limits: Limits { max_in_flight: 1, ..Limits::default() },
            ..ServerConfig::default()
        };
        let probe = Probe::new();
        let (wire, server) = serve(probe_inline(&probe), config).await;
        let (mut from, mut to) = tokio::io::split(wire.dial_pipe());
        let calls = 20_000;
        let all = message(CALL, "hold", 1, "held").repeat(calls);
        let writing = tokio::spawn(async move { to.write_all(&all).await });
        until("one runs", || probe.holding() == 1).await;
        settle().await;
        let sent = usize::try_from(wire.traffic()[0].written()).unwrap();
        assert!(sent <= READ + PIPE.capacity, "{sent} bytes were taken");
        assert_eq!(probe.began(), 1);
        probe.release_all();
        for _ in 0..calls {
            let len = from.read_u32().await.unwrap();
            from.read_exact(&mut vec![0; usize::try_from(len).unwrap()]).await.unwrap();
        }
        assert!(writing.await.unwrap().is_ok());
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

/// Large requests in flight are bounded by their bytes, whatever number is allowed.
#[test]
fn requests_in_flight_are_bounded_by_their_bytes() {
    run(Net::Memory, async {
        let most = 100 * 1024;
        let config = ServerConfig {
            limits: Limits { max_in_flight_bytes: most, ..Limits::default() },
            ..ServerConfig::default()
        };
        let probe = Probe::new();
        let (wire, server) = serve(probe_inline(&probe), config).await;
        let (mut from, mut to) = tokio::io::split(wire.dial_pipe());
        let one = message(CALL, "hold", 1, &"x".repeat(10_000));
        let (calls, at_once) = (100, most.div_ceil(one.len()));
        let all = one.repeat(calls);
        let writing = tokio::spawn(async move { to.write_all(&all).await });
        until("as many run as may", || probe.holding() == at_once).await;
        settle().await;
        assert_eq!((probe.holding(), server.gauges().in_flight()), (at_once, at_once));
        probe.release(1);
        until("one is answered", || probe.began() == at_once + 1).await;
        settle().await;
        assert_eq!(probe.holding(), at_once);
        probe.release_all();
        for _ in 0..calls {
            let len = from.read_u32().await.unwrap();
            from.read_exact(&mut vec![0; usize::try_from(len).unwrap()]).await.unwrap();
        }
        assert!(writing.await.unwrap().is_ok());
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

/// Many deadlines that pass at one instant: each handler is dropped, those that have longer are not.
#[test]
fn many_deadlines_pass_at_once() {
    run(Net::Memory, async {
        let framing = TtHeader::new(BinaryHeader::new());
        let probe = Probe::new();
        let server = Server::new().accept(framing.clone(), probe_inline(&probe));
        let (wire, server) = Wire::to(server, Net::Memory, PIPE, []).await;
        let patient = Client::new(MuxKind::make(wire, framing, Settings::default())).with(patient());
        let hurried = patient.with(CallOptions::new().timeout(Duration::from_secs(5)));
        let calls = 500;
        let mut tasks = JoinSet::new();
        for _ in 0..calls {
            for client in [&hurried, &patient] {
                tasks.spawn(client.call::<method::Hold>(&Text::new("held")));
            }
        }
        until("all run", || probe.holding() == 2 * calls).await;
        tokio::time::sleep(Duration::from_secs(6)).await;
        settle().await;
        assert_eq!((probe.dropped(), probe.holding(), server.gauges().in_flight()), (calls, calls, calls));
        probe.release_all();
        let mut answered = 0;
        while let Some(result) = tasks.join_next().await {
            answered += usize::from(result.unwrap().is_ok());
        }
        assert_eq!((answered, probe.dropped()), (calls, calls));
    });
}
