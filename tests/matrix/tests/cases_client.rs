//! The caller's end, further cases: attempts that stay apart, retries that stay few, spans that end with the outcome.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use codec_thrift::{Binary, FramedBinary, framed};
use futures::future::{Either, join_all, select};
use rpc_core::layer::TraceLayer;
use rpc_core::{
    Body, BoxError, CallOptions, Client, Code, Request, RequestHead, Response, ResponseHead, Router, Sent,
    Transport, TransportError, TransportErrorKind,
};
use rpc_net::{Connect, Server, Stream};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{Answer, Net, PipeConfig, Probe, Recorder, Running, Text, Wire, method, run, until};
use tests_matrix::{MuxKind, PoolKind};
use tokio::time::Instant;
use tower::{Layer, Service, service_fn};
use transport_mux::MuxConfig;
use transport_pool::PoolConfig;

async fn serve(router: Router<(Binary,)>) -> (Wire, Running) {
    Wire::to(Server::new().accept(framed(), router), Net::Memory, PipeConfig::default(), []).await
}

async fn echoes<T: Transport>(client: &Client<Binary, T>, text: &str) {
    let answer = client.call::<method::Echo>(&Text::new(text)).await;
    assert_eq!(answer.expect("an answer"), Ok(Answer::new(text)));
}

/// Attempts to connect that never end, but for the first and each one that is let through.
#[derive(Clone)]
struct Stuck {
    wire: Wire,
    attempts: Arc<AtomicUsize>,
    /// Of so many attempts in a row one ends.
    one_of: usize,
}

impl Stuck {
    fn new(wire: &Wire, one_of: usize) -> Self {
        Self { wire: wire.clone(), attempts: Arc::default(), one_of }
    }
}

impl Connect for Stuck {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        if !self.attempts.fetch_add(1, Ordering::SeqCst).is_multiple_of(self.one_of) {
            pending::<()>().await;
        }
        self.wire.connect().await
    }

    fn endpoint(&self) -> &Arc<str> {
        self.wire.endpoint()
    }
}

/// An attempt to connect that hangs holds up no call that another connection can carry, and no call to another peer. The clock
/// stands still while anything can be done, so a call that took any time waited for what hangs.
#[test]
fn c090_an_attempt_that_hangs_holds_up_nobody_else() {
    run(Net::Memory, async {
        let (wire, _server) = serve(Router::new().add(Probe::new())).await;
        let start = Instant::now();

        let pool = transport_pool::lazy(Stuck::new(&wire, 2), framed(), PoolConfig::default());
        let pooled = Client::new(pool.clone()).with(patient());
        join_all((0..200).map(|i| {
            let pooled = &pooled;
            async move { echoes(pooled, &i.to_string()).await }
        }))
        .await;
        assert!(pool.gauges().dialling > 0, "none hangs: {:?}", pool.gauges());

        let config = MuxConfig { connections: 3, ..MuxConfig::default() };
        let mux = transport_mux::lazy(Stuck::new(&wire, 100), framed(), config);
        let shared = Client::new(mux.clone()).with(patient());
        echoes(&shared, "the first connection").await;
        join_all((0..200).map(|i| {
            let shared = &shared;
            async move { echoes(shared, &i.to_string()).await }
        }))
        .await;
        assert_eq!(mux.gauges().connections, 1);

        // A peer that can not be reached at all, and another beside it.
        let nowhere = Stuck { attempts: Arc::new(AtomicUsize::new(1)), ..Stuck::new(&wire, usize::MAX) };
        let nowhere = transport_mux::lazy(nowhere, framed(), MuxConfig::default());
        let waiting =
            tokio::spawn(Client::new(nowhere).with(patient()).call::<method::Echo>(&Text::new("x")));
        echoes(&pooled, "elsewhere").await;
        echoes(&shared, "elsewhere").await;
        assert!(!waiting.is_finished());
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
}

/// Calls that came before a mux had any connection were given one each; they take the one that is there.
#[test]
fn c090_calls_that_came_before_any_connection_take_the_one_that_opens() {
    run(Net::Memory, async {
        let (wire, _server) = serve(Router::new().add(Probe::new())).await;
        let start = Instant::now();
        let config = MuxConfig { connections: 3, ..MuxConfig::default() };
        let mux = transport_mux::lazy(Stuck::new(&wire, 100), framed(), config);
        let client = Client::new(mux.clone()).with(patient());
        let client = &client;
        join_all((0..60).map(|i| async move { echoes(client, &i.to_string()).await })).await;
        assert_eq!((start.elapsed(), mux.gauges().connections, mux.gauges().waiting), (Duration::ZERO, 1, 0));
    });
}

/// A backend that fails every call gets each of them once, however long that lasts, and the first call after it recovers
/// succeeds.
#[test]
fn c106_failing_answers_cause_no_further_load() {
    async fn check<K: Kind>() {
        let (failing, executed) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
        let backend = {
            let (failing, executed) = (failing.clone(), executed.clone());
            service_fn(move |request: Request<Body>| {
                executed.fetch_add(1, Ordering::SeqCst);
                let head = match failing.load(Ordering::SeqCst) {
                    true => ResponseHead::failed(rpc_core::Status::unavailable("out of order")),
                    false => ResponseHead::ok(),
                };
                async move { Ok::<_, Infallible>(Response { head, body: request.body }) }
            })
        };
        let (wire, _server) = serve(Router::new().fallback(backend)).await;
        let transport = K::make(wire, framed(), Settings::default());
        let client = Client::<Binary, _>::new(transport).with(patient().idempotent());
        for _ in 0..100 {
            for answer in join_all((0..100).map(|_| client.call_raw(work(), vec![1].into()))).await {
                assert!(answer.expect("the backend's answer").head.status.is_err());
            }
        }
        assert_eq!(executed.load(Ordering::SeqCst), 10_000);
        failing.store(false, Ordering::SeqCst);
        let answer = client.call_raw(work(), vec![1].into()).await.expect("an answer");
        assert!(answer.head.status.is_ok());
    }
    run(Net::Memory, check::<MuxKind>());
    run(Net::Memory, check::<PoolKind>());
}

/// A backend that breaks each connection off gets a plain call once, and one that may be repeated no more often than the client
/// says.
#[test]
fn c106_connections_that_break_off_cause_bounded_load() {
    run(Net::Memory, async {
        for (options, times) in [
            (patient(), 1),
            (patient().idempotent(), 1 + CallOptions::RETRIES as usize),
            (patient().idempotent().retries(0), 1),
        ] {
            let (wire, mut script) = Wire::to_script(PipeConfig::default());
            let pool = transport_pool::lazy(wire, framed(), PoolConfig::default());
            let client = Client::new(pool).with(options);
            let seen = Arc::new(AtomicUsize::new(0));
            let counting = seen.clone();
            let backend = tokio::spawn(async move {
                loop {
                    let mut peer = script.accept().await;
                    peer.take_frame().await;
                    counting.fetch_add(1, Ordering::SeqCst);
                }
            });
            for _ in 0..500 {
                let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
                assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::Maybe), "{error}");
                assert_eq!(error.attempts() as usize, times);
            }
            assert_eq!(seen.load(Ordering::SeqCst), 500 * times);
            backend.abort();
        }
    });
}

fn work() -> RequestHead {
    RequestHead { method: "work".into(), ..RequestHead::default() }
}

/// As users write it: sends a second attempt when the first is not answered soon, takes the first answer and drops the other.
#[derive(Clone)]
struct Hedge<S>(S);

const SOON: Duration = Duration::from_millis(50);

impl<S: Transport> Service<Request<Body>> for Hedge<S> {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Body::Once(body) = request.body else { unreachable!("the calls of this test are unary") };
        let again = Request { head: request.head.clone(), body: Body::Once(body.clone()) };
        let first = self.0.call(Request { head: request.head, body: Body::Once(body) });
        let mut transport = self.0.clone();
        Box::pin(async move {
            let second = async move {
                tokio::time::sleep(SOON).await;
                std::future::poll_fn(|cx| transport.poll_ready(cx)).await.map_err(Into::into)?;
                transport.call(again).await.map_err(Into::into)
            };
            match select(Box::pin(first), Box::pin(second)).await {
                Either::Left((answer, _)) => answer.map_err(Into::into),
                Either::Right((answer, _)) => answer,
            }
        })
    }
}

/// Gives each attempt a pair of its own, and demands that it finds none.
#[derive(Clone)]
struct Mark<S>(S, Arc<AtomicUsize>);

impl<S: Transport> Service<Request<Body>> for Mark<S> {
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> S::Future {
        assert!(request.head.metadata.get("attempt").is_none(), "another attempt's metadata");
        let attempt = self.1.fetch_add(1, Ordering::SeqCst);
        request.head.metadata.insert("attempt", attempt.to_string());
        self.0.call(request)
    }
}

/// Ten thousand calls whose first attempt is answered after 200 ms and whose second after 60: each caller gets its own call's
/// second answer, and the first attempt, which is given up, leaves nothing.
#[test]
fn c107_hedged_attempts_are_apart() {
    const CALLS: usize = 10_000;

    async fn check<K: Kind>() {
        // The answer to a call is its number and which attempt it was.
        let attempts = Arc::new(Mutex::new(vec![0_u8; CALLS]));
        let backend = service_fn(move |request: Request<Body>| {
            let Body::Once(body) = request.body else { unreachable!("framed Thrift has no streams") };
            let number = u32::from_be_bytes(body[..].try_into().unwrap());
            let attempt = {
                let mut attempts = attempts.lock().unwrap();
                let attempt = &mut attempts[number as usize];
                *attempt += 1;
                *attempt
            };
            async move {
                let millis = if attempt == 1 { 200 } else { 60 };
                tokio::time::sleep(Duration::from_millis(millis)).await;
                let answer = [&number.to_be_bytes()[..], &[attempt]].concat();
                Ok::<_, Infallible>(Response { head: ResponseHead::ok(), body: Body::Once(answer.into()) })
            }
        });
        let (wire, server) = serve(Router::new().fallback(backend)).await;
        let transport = K::make(wire, framed(), Settings::default());
        let marks = Arc::new(AtomicUsize::new(0));
        let hedged = Hedge(Mark(transport.clone(), marks.clone()));
        let client = Client::with_codec(Binary, hedged).with(patient());
        for batch in 0..CALLS / 100 {
            let calls = (batch * 100..(batch + 1) * 100).map(|number| {
                let client = client.clone();
                tokio::spawn(async move {
                    let number = u32::try_from(number).unwrap();
                    let answer = client.call_raw(work(), number.to_be_bytes().to_vec().into()).await;
                    let body = answer.expect("an answer").body;
                    assert_eq!((&body[..4], body[4]), (&number.to_be_bytes()[..], 2));
                })
            });
            for call in join_all(calls).await {
                call.expect("no panic");
            }
            assert_eq!(K::busy(&transport), 0, "an attempt that was given up holds its place");
        }
        assert_eq!(marks.load(Ordering::SeqCst), 2 * CALLS);
        drop((client, transport));
        until("the server has nothing left", || server.gauges().in_flight() == 0).await;
    }
    run(Net::Memory, check::<MuxKind>());
    run(Net::Memory, check::<PoolKind>());
}

/// Three calls in a span each: one that is late, one that its caller drops, and one that is answered.
async fn over<T: Transport>(transport: T, soon: CallOptions, probe: &Probe) {
    let client = Client::with_codec(Binary, TraceLayer.layer(transport)).with(patient());
    let late = client.with(soon).call::<method::Hold>(&Text::new("late")).await.unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded, "{late}");
    let before = probe.began();
    let dropped = tokio::spawn(client.call::<method::Hold>(&Text::new("dropped")));
    until("it runs", || probe.began() > before).await;
    dropped.abort();
    dropped.await.expect_err("it was given up");
    echoes(&client, "well").await;
}

/// The client's own timer is above the layers, so at the deadline it drops what is below it: the span says why. A failure has the
/// class that the caller sees.
#[test]
fn c172_a_span_says_how_its_call_ended() {
    let recorder = Recorder::new();
    let _default = tracing::subscriber::set_default(recorder.clone());
    run(Net::Memory, async {
        let probe = Probe::new();
        let (wire, mut server) = serve(Router::new().add(probe.clone())).await;
        let mut expected: Vec<&str> = Vec::new();

        // Taken and never answered.
        let soon = CallOptions::new().timeout(Duration::from_millis(20));
        let silent = service_fn(|_: Request<Body>| pending::<Result<Response<Body>, BoxError>>());
        let client = Client::with_codec(Binary, TraceLayer.layer(silent)).with(soon.clone());
        let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
        expected.push("deadline_exceeded");

        over(MuxKind::make(wire.clone(), framed(), Settings::default()), soon.clone(), &probe).await;
        over(PoolKind::make(wire.clone(), framed(), Settings::default()), soon, &probe).await;
        expected.extend(["deadline_exceeded", "dropped", "ok"].repeat(2));

        // Nobody is there any more; a layer's own failure.
        server.stopped().await;
        let gone: transport_mux::Mux<FramedBinary, Wire> = MuxKind::make(wire, framed(), Settings::default());
        let client = Client::with_codec(Binary, TraceLayer.layer(gone)).with(patient());
        let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
        assert_eq!(error.transport().map(TransportError::kind), Some(TransportErrorKind::Connect), "{error}");
        let broken = service_fn(|_: Request<Body>| async { Err::<Response<Body>, _>(BoxError::from("own")) });
        let client = Client::with_codec(Binary, TraceLayer.layer(broken)).with(patient());
        let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
        assert_eq!(error.code(), Code::Unknown);
        expected.extend(["unavailable", "unknown"]);

        assert_eq!(recorder.open("call"), 0);
        let mut codes = recorder.values("call", "code").concat();
        codes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(codes, expected);
    });
}
