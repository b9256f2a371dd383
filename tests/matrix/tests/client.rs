//! The caller's end: retries, deadlines, layers, what errors tell and what traces hold.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::collections::VecDeque;
use std::error::Error as _;
use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use codec_thrift::{Binary, framed};
use futures::future::join_all;
use rpc_core::layer::TraceLayer;
use rpc_core::{
    Body, BoxError, CallOptions, Client, Code, Error, Initiator, Request, Response, ResponseHead, Router,
    Sent, Stage, Status, TransportError, TransportErrorKind,
};
use rpc_net::{Connect, Dialer, Server, ServerConfig, Stream};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{
    Answer, Net, PipeConfig, Probe, Recorder, Running, Text, Wire, method, poll_times, run, until,
};
use rpc_wire::Limits;
use tests_matrix::{MuxKind, PoolKind};
use tokio::time::Instant;
use tower::limit::{ConcurrencyLimit, ConcurrencyLimitLayer};
use tower::{Layer, Service, ServiceBuilder};
use transport_mux::MuxConfig;
use transport_pool::PoolConfig;

type Outcome = Result<Response<Body>, BoxError>;

/// A transport that answers by a script, and counts the attempts.
#[derive(Clone, Default)]
struct Scripted {
    outcomes: Arc<Mutex<VecDeque<Outcome>>>,
    attempts: Arc<AtomicUsize>,
}

impl Scripted {
    /// So many times the same failure, then an answer.
    fn failing(times: usize, error: impl Fn() -> BoxError) -> Self {
        let failures = (0..times).map(|_| Err(error()));
        let outcomes = failures.chain([Ok(ok())]).collect();
        Self { outcomes: Arc::new(Mutex::new(outcomes)), attempts: Arc::default() }
    }

    fn attempts(&self) -> usize {
        self.attempts.load(Ordering::SeqCst)
    }
}

/// An answer to `echo`: the text "ok".
fn ok() -> Response<Body> {
    Response {
        head: ResponseHead::ok(),
        body: Body::Once(vec![0x0b, 0, 0, 0, 0, 0, 2, b'o', b'k', 0].into()),
    }
}

impl Service<Request<Body>> for Scripted {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        self.attempts.fetch_add(1, Ordering::SeqCst);
        let outcome = self.outcomes.lock().unwrap().pop_front();
        Box::pin(async move { outcome.unwrap_or_else(|| Err("the script is over".into())) })
    }
}

fn transport_error(kind: TransportErrorKind, sent: Sent) -> impl Fn() -> BoxError {
    move || TransportError::new(kind, Stage::Send, sent).at("somewhere".into()).into()
}

#[test]
fn c105_only_what_was_provably_not_executed_is_sent_again() {
    use TransportErrorKind::*;
    let table = [
        // kind, sent, attempts of a plain call, attempts of an idempotent one
        (Closed, Sent::No, 2, 2),
        (ShuttingDown, Sent::No, 2, 2),
        (Closed, Sent::Maybe, 1, 2),
        (Closed, Sent::Yes, 1, 2),
        (Connect, Sent::No, 1, 1),
        (Deadline, Sent::No, 1, 1),
        (Deadline, Sent::Maybe, 1, 1),
        (Cancelled, Sent::Maybe, 1, 1),
        (TooLarge, Sent::No, 1, 1),
        (Overloaded, Sent::No, 1, 1),
        (Protocol, Sent::Yes, 1, 1),
        (Unsupported, Sent::No, 1, 1),
    ];
    run(Net::Memory, async {
        for (kind, sent, plain, idempotent) in table {
            for (options, attempts) in [(patient(), plain), (patient().idempotent(), idempotent)] {
                let script = Scripted::failing(1, transport_error(kind, sent));
                let client = Client::with_codec(Binary, script.clone()).with(options);
                let result = client.call::<method::Echo>(&Text::new("hi")).await;
                assert_eq!(script.attempts(), attempts, "{kind:?} {sent:?}: {result:?}");
                match result {
                    Ok(answer) => assert_eq!((answer, attempts), (Ok(Answer::new("ok")), 2)),
                    Err(error) => {
                        let found = error.transport().unwrap();
                        assert_eq!((found.kind(), found.sent(), attempts), (kind, sent, 1));
                        assert_eq!(error.attempts(), 1);
                    }
                }
            }
        }
    });
}

#[test]
fn c105_retries_are_few_and_can_be_turned_off() {
    run(Net::Memory, async {
        let lost = transport_error(TransportErrorKind::Closed, Sent::No);
        for (options, attempts) in
            [(patient(), 1 + CallOptions::RETRIES), (patient().retries(0), 1), (patient().retries(5), 6)]
        {
            let script = Scripted::failing(100, &lost);
            let client = Client::with_codec(Binary, script.clone()).with(options);
            let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
            assert_eq!((error.attempts(), script.attempts()), (attempts, attempts as usize));
            if attempts > 1 {
                assert!(error.to_string().contains(&attempts.to_string()), "{error}");
            }
        }
    });
}

#[test]
fn c105_answers_and_foreign_errors_are_not_retried() {
    run(Net::Memory, async {
        let unavailable =
            Response { head: ResponseHead::failed(Status::unavailable("not now")), body: Body::empty() };
        let undecodable = Response { head: ResponseHead::ok(), body: Body::Once(vec![0x0b].into()) };
        for (answer, code) in [(unavailable, Code::Unavailable), (undecodable, Code::Internal)] {
            let script =
                Scripted { outcomes: Arc::new(Mutex::new([Ok(answer)].into())), ..Scripted::default() };
            let client = Client::with_codec(Binary, script.clone()).with(patient().idempotent());
            let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
            assert_eq!((error.code(), error.sent(), script.attempts()), (code, Sent::Yes, 1), "{error}");
        }
        let script = Scripted::failing(1, || "a layer's own".into());
        let client = Client::with_codec(Binary, script.clone()).with(patient().idempotent());
        let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
        assert_eq!(
            (error.code(), error.sent(), script.attempts()),
            (Code::Unknown, Sent::Maybe, 1),
            "{error}"
        );
        assert_eq!(error.initiator(), Initiator::Library);
    });
}

/// Each attempt takes a second, and the deadline comes in the third.
#[test]
fn c105_all_attempts_are_under_one_deadline() {
    #[derive(Clone, Default)]
    struct Slow(Arc<AtomicUsize>);
    impl Service<Request<Body>> for Slow {
        type Response = Response<Body>;
        type Error = BoxError;
        type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<Body>) -> Self::Future {
            self.0.fetch_add(1, Ordering::SeqCst);
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Err(transport_error(TransportErrorKind::Closed, Sent::No)())
            })
        }
    }
    run(Net::Memory, async {
        let slow = Slow::default();
        let options = CallOptions::new().timeout(Duration::from_millis(2500)).retries(10);
        let client = Client::with_codec(Binary, slow.clone()).with(options);
        let start = Instant::now();
        let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
        assert_eq!((error.code(), slow.0.load(Ordering::SeqCst)), (Code::DeadlineExceeded, 3), "{error}");
        assert!(start.elapsed() < Duration::from_millis(2510), "{:?}", start.elapsed());
    });
}

#[test]
fn c105_an_error_says_the_worst_of_all_attempts() {
    run(Net::Memory, async {
        let transport = Scripted::default();
        let failures = [(TransportErrorKind::Closed, Sent::Maybe), (TransportErrorKind::Connect, Sent::No)];
        let failures = failures.map(|(kind, sent)| Err(transport_error(kind, sent)()));
        transport.outcomes.lock().unwrap().extend(failures);
        let client = Client::with_codec(Binary, transport.clone()).with(CallOptions::new().idempotent());
        let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
        assert_eq!((error.sent(), error.attempts()), (Sent::Maybe, 2), "{error}");
    });
}

#[test]
fn a_call_whose_time_is_up_is_not_sent() {
    run(Net::Memory, async {
        let transport = Scripted::failing(0, || "".into());
        let client = Client::with_codec(Binary, transport.clone());
        for options in [
            CallOptions::new().timeout(Duration::ZERO),
            CallOptions::new().deadline(Instant::now().into_std()),
        ] {
            let error = client.with(options).call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
            assert_eq!((error.code(), error.sent()), (Code::DeadlineExceeded, Sent::No), "{error}");
        }
        assert_eq!(transport.attempts(), 0);
    });
}

/// Asserts that each clone is polled ready before each of its calls, and that no more run than a limit around it allows.
struct Asserting<S> {
    inner: S,
    ready: bool,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl<S: Clone> Clone for Asserting<S> {
    fn clone(&self) -> Self {
        let (running, most) = (self.running.clone(), self.most.clone());
        Self { inner: self.inner.clone(), ready: false, running, most }
    }
}

impl<S> Service<Request<Body>> for Asserting<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        let polled = self.inner.poll_ready(cx);
        self.ready |= polled.is_ready();
        polled
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been ready");
        let running = Counted(self.running.clone());
        self.most.fetch_max(running.0.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let future = self.inner.call(request);
        Box::pin(async move {
            let _running = running;
            future.await
        })
    }
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A layer as users write them: it clones what is below it for each call, and calls the one that was ready.
#[derive(Clone)]
struct Cloning<S>(S);

impl<S> Service<Request<Body>> for Cloning<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Future: Send> + Clone + Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let fresh = self.0.clone();
        let mut ready = std::mem::replace(&mut self.0, fresh);
        Box::pin(async move { ready.call(request).await })
    }
}

async fn serve_in_memory() -> (Probe, Wire, Running) {
    let probe = Probe::new();
    let server = Server::new().accept(framed(), Router::new().add(probe.clone()));
    let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
    (probe, wire, server)
}

#[test]
fn c116_readiness_is_respected_through_clones() {
    run(Net::Memory, async {
        for limit in [1, 7] {
            let (_probe, wire, server) = serve_in_memory().await;
            let transport = MuxKind::make(wire.clone(), framed(), Settings::default());
            let most = Arc::new(AtomicUsize::new(0));
            let asserting = Asserting {
                inner: transport.clone(),
                ready: false,
                running: Arc::default(),
                most: most.clone(),
            };
            let stack: Cloning<ConcurrencyLimit<Cloning<_>>> = ServiceBuilder::new()
                .layer_fn(Cloning)
                .layer(ConcurrencyLimitLayer::new(limit))
                .layer_fn(Cloning)
                .service(asserting);
            let client = Client::with_codec(Binary, stack).with(patient());
            let calls = (0..1000).map(|i| {
                let client = client.clone();
                tokio::spawn(async move {
                    let text = i.to_string();
                    let mut call =
                        std::pin::pin!(client.call::<method::Slow>(&Text::new((i % 4).to_string())));
                    if i % 5 == 0 {
                        // Given up on the way: its permit must come back.
                        poll_times(call.as_mut(), i % 13).await;
                    } else {
                        assert_eq!(call.await.unwrap(), Ok(Answer::new((i % 4).to_string())), "{text}");
                    }
                })
            });
            for call in join_all(calls).await {
                call.expect("no panic");
            }
            assert_eq!(most.load(Ordering::SeqCst), limit);
            until("nothing is left", || MuxKind::busy(&transport) == 0 && server.gauges().in_flight() == 0)
                .await;
        }
    });
}

#[derive(Clone)]
struct Blackhole(Arc<str>);

impl Connect for Blackhole {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        pending().await
    }

    fn endpoint(&self) -> &Arc<str> {
        &self.0
    }
}

#[test]
fn c091_a_deadline_while_connecting_or_waiting_names_its_stage() {
    run(Net::Memory, async {
        let options = CallOptions::new().timeout(Duration::from_millis(500));
        let mux = transport_mux::lazy(Blackhole("nowhere".into()), framed(), MuxConfig::default());
        let pool = transport_pool::lazy(Blackhole("nowhere".into()), framed(), PoolConfig::default());
        let start = Instant::now();
        let errors = tokio::join!(
            Client::new(mux.clone()).with(options.clone()).call::<method::Echo>(&Text::new("hi")),
            Client::new(pool.clone()).with(options.clone()).call::<method::Echo>(&Text::new("hi")),
        );
        for error in [errors.0.unwrap_err(), errors.1.unwrap_err()] {
            assert_eq!((error.code(), error.sent()), (Code::DeadlineExceeded, Sent::No), "{error}");
            assert!(matches!(error.stage(), Some(Stage::Connect | Stage::Queue)), "{error}");
        }
        assert!(start.elapsed() < Duration::from_millis(510));
        assert_eq!((mux.gauges().waiting, pool.gauges().waiting), (0, 0));

        // All connections of the pool, and all places on the mux's connection, are taken.
        let (probe, wire, _server) = serve_in_memory().await;
        let limits = Limits { max_in_flight: 1, ..Limits::default() };
        let mux = MuxConfig { connections: 1, limits, ..MuxConfig::default() };
        let mux = Client::new(transport_mux::lazy(wire.clone(), framed(), mux));
        let pool = PoolConfig { max_connections: 1, ..PoolConfig::default() };
        let pool = Client::new(transport_pool::lazy(wire.clone(), framed(), pool));
        tokio::spawn(mux.with(patient()).call::<method::Hold>(&Text::new("held")));
        tokio::spawn(pool.with(patient()).call::<method::Hold>(&Text::new("held")));
        until("both are full", || probe.holding() == 2).await;
        let (mux, pool) = (mux.with(options.clone()), pool.with(options));
        let errors = tokio::join!(
            mux.call::<method::Echo>(&Text::new("hi")),
            pool.call::<method::Echo>(&Text::new("hi"))
        );
        for error in [errors.0.unwrap_err(), errors.1.unwrap_err()] {
            let found = (error.code(), error.sent(), error.stage());
            assert_eq!(found, (Code::DeadlineExceeded, Sent::No, Some(Stage::Queue)), "{error}");
        }
        assert_eq!((mux.transport().gauges().waiting, pool.transport().gauges().waiting), (0, 0));
        assert_eq!(probe.echoed(), 0);
    });
}

/// A stack of foreign layers does not end calls by itself, so the client does.
#[test]
fn c091_a_deadline_over_layers_that_never_are_ready_or_never_answer() {
    #[derive(Clone)]
    struct Stuck(bool);
    impl Service<Request<Body>> for Stuck {
        type Response = Response<Body>;
        type Error = BoxError;
        type Future = std::future::Pending<Result<Response<Body>, BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            if self.0 { Poll::Ready(Ok(())) } else { Poll::Pending }
        }

        fn call(&mut self, _: Request<Body>) -> Self::Future {
            pending()
        }
    }
    run(Net::Memory, async {
        for (ready, stage, sent) in [(false, Stage::Queue, Sent::No), (true, Stage::Receive, Sent::Maybe)] {
            let client = Client::with_codec(Binary, Stuck(ready));
            let client = client.with(CallOptions::new().timeout(Duration::from_millis(500)));
            let error = client.call::<method::Echo>(&Text::new("hi")).await.unwrap_err();
            let found = (error.code(), error.stage(), error.sent());
            assert_eq!(found, (Code::DeadlineExceeded, Some(stage), sent), "{error}");
        }
    });
}

/// What one kind of failure must tell.
struct Story {
    error: Error,
    code: Code,
    kind: Option<TransportErrorKind>,
    stage: Option<Stage>,
    sent: Sent,
    says: &'static [&'static str],
}

const SECRET: &str = "the payload that nobody may see";

#[test]
fn c170_the_error_tells_the_story() {
    run(Net::Memory, async {
        let once = patient().retries(0);
        let secret = Text::new(SECRET);
        let mut stories = Vec::new();

        // Nobody listens: the port was free a moment ago.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let endpoint: &'static str = Box::leak(free.to_string().into_boxed_str());
        let refused = transport_mux::lazy(Dialer::new(endpoint), framed(), MuxConfig::default());
        let says: &'static [&'static str] = Box::leak(Box::new([endpoint, "connecting", "refused"]));
        stories.push(Story {
            error: Client::new(refused).with(once.clone()).call::<method::Echo>(&secret).await.unwrap_err(),
            code: Code::Unavailable,
            kind: Some(TransportErrorKind::Connect),
            stage: Some(Stage::Connect),
            sent: Sent::No,
            says,
        });

        // No such endpoint.
        let nameless = transport_pool::lazy(Dialer::new("no port here"), framed(), PoolConfig::default());
        stories.push(Story {
            error: Client::new(nameless).with(once.clone()).call::<method::Echo>(&secret).await.unwrap_err(),
            code: Code::Unavailable,
            kind: Some(TransportErrorKind::Connect),
            stage: Some(Stage::Resolve),
            sent: Sent::No,
            says: &["no port here", "looking the name up", "invalid"],
        });

        // The peer goes while the answer is awaited.
        for (reset, cause) in [(true, "connection reset"), (false, "the peer closed the connection")] {
            let (wire, mut script) = Wire::to_script(PipeConfig::default());
            let transport = PoolKind::make(wire, framed(), Settings::default());
            let call = tokio::spawn(Client::new(transport).with(once.clone()).call::<method::Echo>(&secret));
            let mut peer = script.accept().await;
            peer.take_frame().await;
            if reset {
                peer.reset()
            } else {
                drop(peer)
            }
            let says: &'static [&'static str] =
                Box::leak(Box::new(["script", "waiting for the answer", cause]));
            stories.push(Story {
                error: call.await.unwrap().unwrap_err(),
                code: Code::Unavailable,
                kind: Some(TransportErrorKind::Closed),
                stage: Some(Stage::Receive),
                sent: Sent::Maybe,
                says,
            });
        }

        // The answer can not be decoded: a text that is none, in field 0.
        let (wire, mut script) = Wire::to_script(PipeConfig::default());
        let transport = MuxKind::make(wire, framed(), Settings::default());
        let call = tokio::spawn(Client::new(transport).with(once.clone()).call::<method::Echo>(&secret));
        let mut peer = script.accept().await;
        peer.take_frame().await;
        let answer = [
            &[0, 0, 0, 25, 0x80, 1, 0, 2, 0, 0, 0, 4][..],
            b"echo",
            &[0, 0, 0, 1, 0x0b, 0, 0, 0, 0, 0, 1, 0xff, 0],
        ];
        peer.send(&answer.concat()).await;
        stories.push(Story {
            error: call.await.unwrap().unwrap_err(),
            code: Code::Internal,
            kind: None,
            stage: Some(Stage::Decode),
            sent: Sent::Yes,
            says: &["result", "not UTF-8"],
        });

        // Over a server: late, too large, unknown, not encodable.
        let (_probe, wire, _server) = serve_in_memory().await;
        let limits = Limits { max_message: 100, ..Limits::default() };
        let transport = MuxKind::make(wire, framed(), Settings { limits, ..Settings::default() });
        let client = Client::new(transport).with(once.clone());
        let late = client.with(once.timeout(Duration::from_millis(10)));
        stories.push(Story {
            error: late.call::<method::Hold>(&secret).await.unwrap_err(),
            code: Code::DeadlineExceeded,
            kind: Some(TransportErrorKind::Deadline),
            stage: Some(Stage::Receive),
            sent: Sent::Maybe,
            says: &["probe.Probe/hold", "memory", "deadline"],
        });
        stories.push(Story {
            error: client.call::<method::Echo>(&Text::new(SECRET.repeat(10))).await.unwrap_err(),
            code: Code::ResourceExhausted,
            kind: Some(TransportErrorKind::TooLarge),
            stage: Some(Stage::Send),
            sent: Sent::No,
            says: &["memory", "the limit is 100"],
        });
        stories.push(Story {
            error: client.call::<method::Unknown>(&secret).await.unwrap_err(),
            code: Code::Unimplemented,
            kind: None,
            stage: Some(Stage::Peer),
            sent: Sent::Yes,
            says: &["probe.Probe/nope", "unknown method"],
        });
        stories.push(Story {
            error: client.call::<method::Echo>(&Text::unencodable()).await.unwrap_err(),
            code: Code::InvalidArgument,
            kind: None,
            stage: Some(Stage::Encode),
            sent: Sent::No,
            says: &["cannot encode", "refuses to be written"],
        });

        for story in stories {
            let error = story.error;
            let line = error.to_string();
            let kind = error.transport().map(|error| error.kind());
            assert_eq!(
                (error.code(), kind, error.stage(), error.sent()),
                (story.code, story.kind, story.stage, story.sent),
                "{line}"
            );
            assert!(line.contains("probe.Probe/"), "{line}");
            assert!(
                !line.contains('\n') && !line.contains(SECRET) && !format!("{error:?}").contains(SECRET),
                "{line}"
            );
            for part in story.says {
                assert!(line.contains(part), "{part:?} is not in {line:?}");
            }
            // The first cause stands in the line, and once.
            let mut cause = error.source();
            let mut last = None;
            while let Some(error) = cause {
                cause = error.source();
                last = Some(error);
            }
            let last = last.expect("a cause");
            assert_eq!(line.matches(&last.to_string()).count(), 1, "{last} in {line}");
        }
    });
}

/// The chain of causes goes down to the system's error.
#[test]
fn c170_the_systems_error_can_be_found() {
    run(Net::Memory, async {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let mux = transport_mux::connect(&free, framed()).await.map(drop).unwrap_err();
        let pool = transport_pool::connect(&free, framed()).await.map(drop).unwrap_err();
        for error in [mux, pool] {
            let cause = error
                .source()
                .and_then(|cause| cause.downcast_ref::<io::Error>())
                .expect("the system's error");
            assert_eq!(cause.kind(), io::ErrorKind::ConnectionRefused);
            assert_eq!(error.endpoint().map(|endpoint| &**endpoint), Some(&*free));
        }
    });
}

/// The same for connections that are made when they are needed: all who wait get the cause.
#[test]
fn c170_the_systems_error_can_be_found_below_a_failed_lazy_dial() {
    run(Net::Memory, async {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let mux = transport_mux::lazy(Dialer::new(&free), framed(), MuxConfig::default());
        let pool = transport_pool::lazy(Dialer::new(&free), framed(), PoolConfig::default());
        let (mux, pool) = (Client::new(mux).with(patient()), Client::new(pool).with(patient()));
        for _ in 0..3 {
            let (mux, pool) = tokio::join!(
                mux.call::<method::Echo>(&Text::new("hi")),
                pool.call::<method::Echo>(&Text::new("hi"))
            );
            for error in [mux.unwrap_err(), pool.unwrap_err()] {
                let mut cause = error.source();
                while let Some(inner) = cause.filter(|cause| !cause.is::<io::Error>()) {
                    cause = inner.source();
                }
                let system =
                    cause.and_then(|cause| cause.downcast_ref::<io::Error>()).expect("the system's error");
                assert_eq!(system.kind(), io::ErrorKind::ConnectionRefused);
                assert_eq!(error.to_string().matches(&system.to_string()).count(), 1, "{error}");
            }
        }
    });
}

/// Calls of each kind, so many.
const EACH: usize = 200;

/// Thousands of calls of all kinds: each has one beginning and one end, on either side, with the class of its outcome.
#[test]
fn c172_one_beginning_and_one_end() {
    let recorder = Recorder::new();
    let _default = tracing::subscriber::set_default(recorder.clone());
    run(Net::Memory, async {
        let probe = Probe::new();
        let config = ServerConfig { drain_timeout: Duration::from_millis(100), ..ServerConfig::default() };
        let server = Server::new().config(config).accept(framed(), Router::new().add(probe.clone()));
        let (wire, mut server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let transport = MuxKind::make(wire.clone(), framed(), Settings::default());
        let client = Client::with_codec(Binary, TraceLayer.layer(transport.clone())).with(patient());
        let impatient = client.with(patient().timeout(Duration::from_millis(5)));
        let mut calls = tokio::task::JoinSet::new();
        for i in 0..EACH {
            let (client, impatient) = (client.clone(), impatient.clone());
            calls.spawn(async move {
                let text = Text::new(i.to_string());
                client.call::<method::Echo>(&text).await.unwrap().unwrap();
                client.call::<method::Unknown>(&text).await.unwrap_err();
                client.call::<method::Panic>(&text).await.unwrap_err();
                client.call::<method::Unencodable>(&text).await.unwrap_err();
                client.call::<method::Echo>(&Text::unencodable()).await.unwrap_err(); // no call at all
                client.send::<method::Fire>(&text).await.unwrap();
                impatient.call::<method::Hold>(&text).await.unwrap_err();
                // Dropped before it is polled, and while it waits for its answer.
                drop(client.call::<method::Hold>(&text));
                let mut dropped = std::pin::pin!(client.call::<method::Hold>(&text));
                assert!(poll_times(dropped.as_mut(), 3).await.is_none());
            });
        }
        while let Some(call) = calls.join_next().await {
            call.expect("no panic");
        }
        server.stopped().await;
        until("nothing is left", || MuxKind::busy(&transport) == 0).await;
    });
    assert_eq!(recorder.open("call"), 0);
    let codes = recorder.values("call", "code");
    assert!(codes.iter().all(|codes| codes.len() == 1), "each call ends once");
    assert!(recorder.values("call", "elapsed_us").iter().all(|times| times.len() == 1));
    let count = |code: &str| codes.iter().filter(|codes| codes[0] == code).count();
    let each = EACH;
    let counts = ["ok", "unimplemented", "internal", "deadline_exceeded", "dropped"].map(count);
    // Echo and the oneway call; the unknown method; the panic and the answer that can not be encoded; what the client, which is
    // above the layer, ended at the deadline; what its caller dropped while it waited.
    assert_eq!(counts, [2 * each, each, 2 * each, each, each]);
    assert_eq!(codes.len(), 7 * each);
}
