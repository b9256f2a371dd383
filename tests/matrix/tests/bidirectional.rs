//! Both ends of a connection of msgpack-rpc call, and serve: what one side's handlers ask of the other before they answer.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use codec_msgpack::{MsgPack, Rpc};
use futures::future::join_all;
use rpc_core::{
    Body, BoxError, CallOptions, Caller, Client, Code, Context, Encode, Error, Method, MethodTable, Name,
    NamedService, Never, Place, Request, RequestHead, Response, ResponseHead, Router, Sent, Shape, Status,
};
use rpc_net::{Server, ServerConfig};
use rpc_test::transport::patient;
use rpc_test::{Net, PipeConfig, Running, Wire, run, step, until};
use rpc_wire::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::service_fn;
use transport_mux::{Mux, MuxConfig};

macro_rules! methods {
    ($($method:ident = $name:literal, $shape:ident, $request:ty => $response:ty;)+) => {$(
        enum $method {}

        impl Method for $method {
            const SERVICE: &'static str = "Both";
            const NAME: &'static str = $name;
            const SHAPE: Shape = Shape::$shape;
            const REQUEST: Place = Place::Arguments;
            type Request = $request;
            type Response = $response;
            type Exception = Never;
        }
    )+};
}
methods! {
    Echo = "echo", Unary, (String,) => String;
    // Asks the caller for the echo of a text.
    Ask = "ask", Unary, (String,) => String;
    // Asks the caller for the same with one less, until there is nothing left.
    Nest = "nest", Unary, (u32,) => u32;
    // Tells the caller a text.
    TellMe = "tell_me", Unary, (String,) => ();
    Tell = "tell", Oneway, (String,) => ();
    // Calls a method of the caller with a text, and returns what became of that.
    Relay = "relay", Unary, (String,) => String;
    // The same within so many milliseconds.
    RelayWithin = "relay_within", Unary, (String, u64) => String;
    // Waits, asks the caller for an echo, and returns that.
    HoldThenAsk = "hold_then_ask", Unary, (String,) => String;
    Hold = "hold", Unary, (String,) => String;
    Panic = "panic", Unary, (String,) => String;
    // Keeps what calls the caller.
    Keep = "keep", Unary, () => ();
}

/// The service of either side. Clones are the same one.
#[derive(Clone)]
struct Both(Arc<State>);

struct State {
    told: AtomicUsize,
    holding: AtomicUsize,
    dropped: AtomicUsize,
    gate: Semaphore,
    kept: Mutex<Option<Caller>>,
}

impl Both {
    fn new() -> Self {
        Self(Arc::new(State {
            told: AtomicUsize::new(0),
            holding: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            kept: Mutex::default(),
        }))
    }

    fn told(&self) -> usize {
        self.0.told.load(Ordering::SeqCst)
    }

    fn holding(&self) -> usize {
        self.0.holding.load(Ordering::SeqCst)
    }

    fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }

    /// What a handler kept.
    fn kept(&self) -> Client<MsgPack, Caller> {
        let kept = self.0.kept.lock().unwrap().clone().expect("something was kept");
        Client::with_codec(MsgPack::new(), kept).with(patient())
    }

    async fn hold(&self) {
        struct Guard(Option<Arc<State>>);
        impl Drop for Guard {
            fn drop(&mut self) {
                if let Some(state) = &self.0 {
                    state.dropped.fetch_add(1, Ordering::SeqCst);
                }
            }
        }
        self.0.holding.fetch_add(1, Ordering::SeqCst);
        let mut guard = Guard(Some(self.0.clone()));
        self.0.gate.acquire().await.unwrap().forget();
        guard.0 = None;
    }
}

fn back(cx: &Context) -> Client<MsgPack, Caller> {
    let caller = cx.caller().expect("the protocol lets servers call");
    Client::with_codec(MsgPack::new(), caller).with(patient())
}

fn never<T>(result: Result<Result<T, Never>, Error>) -> Result<T, Status> {
    match result? {
        Ok(value) => Ok(value),
        Err(never) => match never {},
    }
}

fn text(text: &str) -> (String,) {
    (text.to_owned(),)
}

/// Calls a method with a text, and says what became of that.
async fn outcome(client: &Client<MsgPack, Caller>, method: &str) -> String {
    let mut body = BytesMut::new();
    MsgPack::new().encode(Place::Arguments, &text("relayed"), &mut body).unwrap();
    let head = RequestHead { method: Name::from(method.to_owned()), ..RequestHead::default() };
    match client.call_raw(head, body.freeze()).await {
        Ok(Response { head: ResponseHead { status: Ok(()), .. }, .. }) => "ok".to_owned(),
        Ok(Response { head: ResponseHead { status: Err(status), .. }, .. }) => status.code().to_string(),
        Err(error) => format!("{}, sent: {:?}", error.code(), error.sent()),
    }
}

impl NamedService<MsgPack> for Both {
    const NAME: &'static str = "Both";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
        table.unary::<Echo, _, _>(|cx: Context, (text,)| async move { cx.finish::<Echo>(Ok(Ok(text))) });
        table.unary::<Ask, _, _>(|cx: Context, request| async move {
            let answer = never(back(&cx).call::<Echo>(&request).await);
            cx.finish::<Ask>(answer.map(Ok))
        });
        table.unary::<Nest, _, _>(|cx: Context, (depth,)| async move {
            let below = match depth.checked_sub(1) {
                Some(less) => never(back(&cx).call::<Nest>(&(less,)).await).map(|below| below + 1),
                None => Ok(0),
            };
            cx.finish::<Nest>(below.map(Ok))
        });
        table.unary::<TellMe, _, _>(|cx: Context, request| async move {
            let sent = back(&cx).send::<Tell>(&request).await.map_err(Status::from);
            cx.finish::<TellMe>(sent.map(Ok))
        });
        let both = self.clone();
        table.unary::<Tell, _, _>(move |cx: Context, (_,)| {
            both.0.told.fetch_add(1, Ordering::SeqCst);
            async move { cx.finish::<Tell>(Ok(Ok(()))) }
        });
        table.unary::<Relay, _, _>(|cx: Context, (method,)| async move {
            let said = outcome(&back(&cx), &method).await;
            cx.finish::<Relay>(Ok(Ok(said)))
        });
        table.unary::<RelayWithin, _, _>(|cx: Context, (method, millis)| async move {
            let options = CallOptions::new().timeout(Duration::from_millis(millis));
            let said = outcome(&back(&cx).with(options), &method).await;
            cx.finish::<RelayWithin>(Ok(Ok(said)))
        });
        let both = self.clone();
        table.unary::<HoldThenAsk, _, _>(move |cx: Context, request| {
            let both = both.clone();
            async move {
                both.hold().await;
                let answer = never(back(&cx).call::<Echo>(&request).await);
                cx.finish::<HoldThenAsk>(answer.map(Ok))
            }
        });
        let both = self.clone();
        table.unary::<Hold, _, _>(move |cx: Context, (text,)| {
            let both = both.clone();
            async move {
                both.hold().await;
                cx.finish::<Hold>(Ok(Ok(text)))
            }
        });
        table.unary::<Panic, _, _>(|cx: Context, (text,)| async move {
            assert!(text.is_empty(), "on purpose");
            cx.finish::<Panic>(Ok(Ok(text)))
        });
        let both = self.clone();
        table.unary::<Keep, _, _>(move |cx: Context, ()| {
            *both.0.kept.lock().unwrap() = cx.caller();
            async move { cx.finish::<Keep>(Ok(Ok(()))) }
        });
    }
}

/// A server and a client that serve each other.
struct Pair {
    /// The server's service, and the client's.
    here: Both,
    there: Both,
    client: Client<MsgPack, Mux<Rpc, Wire>>,
    wire: Wire,
    server: Running,
}

async fn pair(net: Net, config: ServerConfig, limits: Limits) -> Pair {
    let (here, there) = (Both::new(), Both::new());
    let server = Server::new().config(config).accept(Rpc::new(), Router::new().add(here.clone()));
    let (wire, server) = Wire::to(server, net, PipeConfig::default(), []).await;
    let config = MuxConfig { connections: 1, limits, ..MuxConfig::default() };
    let services = Router::new().add(there.clone());
    let mux = transport_mux::connect_serving(wire.clone(), Rpc::new(), config, services).await.unwrap();
    Pair { here, there, client: Client::new(mux).with(patient()), wire, server }
}

async fn usual(net: Net) -> Pair {
    pair(net, ServerConfig::default(), Limits::default()).await
}

impl Pair {
    async fn echoes(&self) {
        assert_eq!(never(self.client.call::<Echo>(&text("still here")).await).unwrap(), "still here");
    }

    /// What the server keeps to call the client by.
    async fn kept(&self) -> Client<MsgPack, Caller> {
        never(self.client.call::<Keep>(&()).await).unwrap();
        self.here.kept()
    }

    async fn relay(&self, method: &str) -> String {
        never(self.client.call::<Relay>(&text(method)).await).unwrap()
    }
}

const NETS: [Net; 2] = [Net::Memory, Net::Tcp];

#[test]
fn a_handler_calls_its_caller_and_tells_it_things() {
    for net in NETS {
        run(net, async {
            let pair = usual(net).await;
            assert_eq!(never(pair.client.call::<Ask>(&text("who?")).await).unwrap(), "who?");
            never(pair.client.call::<TellMe>(&text("news")).await).unwrap();
            // What it was told stands before the answer.
            assert_eq!((pair.there.told(), pair.here.told()), (1, 0));
            pair.client.send::<Tell>(&text("news")).await.unwrap();
            pair.echoes().await;
            assert_eq!((pair.there.told(), pair.here.told()), (1, 1));
            until("nothing is left", || pair.server.gauges().in_flight() == 0).await;
            assert_eq!(pair.client.transport().gauges().in_flight, 0);
        });
    }
}

#[test]
fn calls_nest_both_ways() {
    for net in NETS {
        run(net, async {
            let pair = usual(net).await;
            assert_eq!(never(pair.client.call::<Nest>(&(40,)).await).unwrap(), 40);
            let kept = pair.kept().await;
            assert_eq!(never(kept.call::<Nest>(&(41,)).await).unwrap(), 41);
        });
    }
}

#[test]
fn many_call_at_once_both_ways() {
    for net in NETS {
        run(net, async {
            let pair = usual(net).await;
            let kept = pair.kept().await;
            let long = "x".repeat(4096);
            let asked = (0..600).map(|i| pair.client.call::<Ask>(&(format!("{i}{long}"),)));
            let asked = asked.map(|call| async { never(call.await).unwrap() });
            let called = (0..600).map(|i| kept.call::<Ask>(&(format!("{i}{long}"),)));
            let called = called.map(|call| async { never(call.await).unwrap() });
            let (asked, called) = tokio::join!(join_all(asked), join_all(called));
            for (i, (asked, called)) in asked.into_iter().zip(called).enumerate() {
                assert_eq!((asked, called), (format!("{i}{long}"), format!("{i}{long}")));
            }
        });
    }
}

/// A server that may serve one call at a time has no room while that one waits for its caller, whose answer is read all the
/// same; what else comes meanwhile is refused, since it stands before that answer.
#[test]
fn limits_hold_and_hold_up_no_answer() {
    for net in NETS {
        run(net, async {
            let one = Limits { max_in_flight: 1, ..Limits::default() };
            let pair = pair(net, ServerConfig { limits: one.clone(), ..ServerConfig::default() }, one).await;
            assert_eq!(never(pair.client.call::<Ask>(&text("one")).await).unwrap(), "one");
            assert_eq!(never(pair.client.call::<Nest>(&(1,)).await).unwrap(), 1);
            // Its third call would be the server's second at once.
            let error = never(pair.client.call::<Nest>(&(2,)).await).unwrap_err();
            assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
            pair.echoes().await;
        });
    }
}

/// C120 the other way: how many calls a server has open is bounded, and a call that is given up makes room.
#[test]
fn a_server_s_calls_wait_for_room_and_those_given_up_make_some() {
    for net in NETS {
        run(net, async {
            let one = Limits { max_in_flight: 1, ..Limits::default() };
            let config = ServerConfig { limits: one, ..ServerConfig::default() };
            let pair = pair(net, config, Limits::default()).await;
            let kept = pair.kept().await;
            let first = tokio::spawn(kept.call::<Hold>(&text("first")));
            until("it is served", || pair.there.holding() == 1).await;
            let second = tokio::spawn(kept.call::<Hold>(&text("second")));
            for _ in 0..50 {
                step().await;
            }
            assert_eq!(pair.there.holding(), 1);
            first.abort();
            until("the second is served", || pair.there.holding() == 2).await;
            pair.there.0.gate.add_permits(2);
            assert_eq!(never(second.await.unwrap()).unwrap(), "second");
            pair.echoes().await;
        });
    }
}

#[test]
fn calls_of_a_server_end_with_their_connection() {
    for net in NETS {
        run(net, async {
            let pair = usual(net).await;
            let kept = pair.kept().await;
            let open = tokio::spawn(kept.call::<Hold>(&text("open")));
            until("it is served", || pair.there.holding() == 1).await;
            let (there, wire) = (pair.there.clone(), pair.wire.clone());
            let asking = tokio::spawn(pair.client.call::<Relay>(&text("hold")));
            until("both are served", || there.holding() == 2).await;
            // The client's runtime would end its connection so.
            drop(wire);
            asking.abort();
            let cut = pair.server;
            drop(pair.client);
            // A client that takes no more calls finishes those that it serves.
            assert_eq!(there.dropped(), 0);
            there.0.gate.add_permits(2);
            assert_eq!(never(open.await.unwrap()).unwrap(), "open");
            until("the connection is over", || cut.gauges().connections() == 0).await;
            let error = kept.call::<Echo>(&text("late")).await.unwrap_err();
            assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::No), "{error}");
        });
    }
}

/// A peer that goes without a word: what was sent to it may have been executed.
#[test]
fn calls_of_a_server_fail_when_the_peer_is_gone() {
    run(Net::Memory, async {
        for reset in [false, true] {
            let here = Both::new();
            let server = Server::new().accept(Rpc::new(), Router::new().add(here.clone()));
            let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
            let mut peer = wire.dial_pipe();
            peer.write_all(b"\x94\x00\x01\xa4keep\x90").await.unwrap();
            until("it is kept", || here.0.kept.lock().unwrap().is_some()).await;
            let open = tokio::spawn(here.kept().call::<Echo>(&text("is anybody there?")));
            let mut seen = [0; 5 + 9];
            peer.read_exact(&mut seen).await.unwrap();
            assert_eq!(&seen, b"\x94\x01\x01\xc0\xc0\x94\x00\x01\xa4echo\x91");
            if reset {
                peer.reset();
            } else {
                drop(peer);
            }
            let error = open.await.unwrap().unwrap_err();
            assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::Maybe), "{error}");
            until("the connection is over", || server.gauges().connections() == 0).await;
        }
    });
}

#[test]
fn a_client_s_handlers_end_with_their_connection() {
    for net in NETS {
        run(net, async {
            let config = ServerConfig { drain_timeout: Duration::ZERO, ..ServerConfig::default() };
            let mut pair = pair(net, config, Limits::default()).await;
            let kept = pair.kept().await;
            // The client's handler waits for the server, which never answers.
            let relayed = tokio::spawn(kept.call::<Relay>(&text("hold")));
            let held = tokio::spawn(kept.call::<Hold>(&text("held")));
            until("both hold", || pair.here.holding() == 1 && pair.there.holding() == 1).await;
            pair.server.stopped().await;
            for call in [relayed, held] {
                let error = call.await.unwrap().unwrap_err();
                assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::Maybe), "{error}");
            }
            until("the handler is dropped", || pair.there.dropped() == 1).await;
            until("the connection is gone", || pair.client.transport().gauges().connections == 0).await;
        });
    }
}

#[test]
fn a_client_without_services_says_so_and_ignores_what_it_is_told() {
    for net in NETS {
        run(net, async {
            let here = Both::new();
            let server = Server::new().accept(Rpc::new(), Router::new().add(here));
            let (wire, _server) = Wire::to(server, net, PipeConfig::default(), []).await;
            let config = MuxConfig { connections: 1, ..MuxConfig::default() };
            let mux = transport_mux::lazy(wire, Rpc::new(), config);
            let client = Client::new(mux).with(patient());
            // Others of its own are in flight meanwhile, with the numbers that the server's calls have.
            let others = (0..20).map(|_| client.call::<TellMe>(&text("news")));
            let others = others.map(|call| async { never(call.await).unwrap() });
            let relayed = (0..20).map(|_| client.call::<Relay>(&text("echo")));
            let relayed = relayed.map(|call| async { never(call.await).unwrap() });
            let (_, relayed) = tokio::join!(join_all(others), join_all(relayed));
            assert!(relayed.iter().all(|said| said == "unimplemented"), "{relayed:?}");
        });
    }
}

#[test]
fn a_call_back_ends_at_its_deadline_and_its_late_answer_means_nothing() {
    for net in NETS {
        run(net, async {
            let pair = usual(net).await;
            let relayed = pair.client.call::<RelayWithin>(&("hold".to_owned(), 20));
            let relayed = never(relayed.await).unwrap();
            assert!(relayed.starts_with("deadline_exceeded"), "{relayed}");
            until("it is served", || pair.there.holding() == 1).await;
            pair.there.0.gate.add_permits(1);
            assert_eq!(pair.relay("echo").await, "ok");
            pair.echoes().await;
        });
    }
}

/// A peer that calls, is called back, and goes: the handler is dropped, and with it what it asked.
#[test]
fn a_handler_that_is_dropped_gives_up_its_call_back() {
    run(Net::Memory, async {
        let server = Server::new().accept(Rpc::new(), Router::new().add(Both::new()));
        let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let mut peer = wire.dial_pipe();
        peer.write_all(b"\x94\x00\x07\xa3ask\x91\xa2hi").await.unwrap();
        let mut asked = [0; 12];
        peer.read_exact(&mut asked).await.unwrap();
        assert_eq!(&asked, b"\x94\x00\x01\xa4echo\x91\xa2hi");
        assert_eq!(server.gauges().in_flight(), 1);
        drop(peer);
        until("nothing is left", || server.gauges().in_flight() + server.gauges().connections() == 0).await;
    });
}

/// What a layer holds back does not hold up the answers that those it let through wait for.
#[test]
fn a_layer_that_is_not_ready_holds_up_no_answer() {
    for net in NETS {
        run(net, async {
            let services = Router::new().add(Both::new());
            let server =
                Server::new().accept(Rpc::new(), services).layer(GlobalConcurrencyLimitLayer::new(1));
            let (wire, _server) = Wire::to(server, net, PipeConfig::default(), []).await;
            let config = MuxConfig { connections: 1, ..MuxConfig::default() };
            let services = Router::new().add(Both::new());
            let mux = transport_mux::connect_serving(wire, Rpc::new(), config, services).await.unwrap();
            let client = Client::new(mux).with(patient());
            let asked = (0..50).map(|i| client.call::<Ask>(&(i.to_string(),)));
            let asked = join_all(asked.map(|call| async { never(call.await).unwrap() })).await;
            assert_eq!(asked, (0..50).map(|i| i.to_string()).collect::<Vec<_>>());
        });
    }
}

#[test]
fn a_panic_costs_one_call() {
    for net in NETS {
        run(net, async {
            let pair = usual(net).await;
            assert_eq!(pair.relay("panic").await, "internal");
            assert_eq!(pair.relay("nope").await, "unimplemented");
            assert_eq!(pair.relay("echo").await, "ok");
        });
    }
}

/// A handler that was taken before the stop may still call back, since it could not finish otherwise.
#[test]
fn a_graceful_stop_lets_calls_both_ways_finish() {
    for net in NETS {
        run(net, async {
            let mut pair = usual(net).await;
            let kept = pair.kept().await;
            let asking = tokio::spawn(pair.client.call::<HoldThenAsk>(&text("asked late")));
            let open = tokio::spawn(kept.call::<Hold>(&text("open")));
            until("both are served", || pair.here.holding() == 1 && pair.there.holding() == 1).await;
            pair.server.begin_stop();
            for _ in 0..50 {
                step().await;
            }
            assert!(!pair.server.has_stopped());
            pair.here.0.gate.add_permits(1);
            assert_eq!(never(asking.await.unwrap()).unwrap(), "asked late");
            assert!(!pair.server.has_stopped(), "a call to the client is still open");
            // No handler is left that could need another.
            let error = kept.call::<Echo>(&text("late")).await.unwrap_err();
            assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::No), "{error}");
            pair.there.0.gate.add_permits(1);
            assert_eq!(never(open.await.unwrap()).unwrap(), "open");
            pair.server.stopped().await;
        });
    }
}

#[test]
fn where_servers_can_not_call_there_is_no_caller() {
    run(Net::Memory, async {
        let seen = Arc::new(Mutex::new(None));
        let looked = seen.clone();
        let look = service_fn(move |request: Request<Body>| {
            *looked.lock().unwrap() = request.head.origin.map(|origin| origin.caller.is_some());
            async { Ok::<_, BoxError>(Response { head: ResponseHead::ok(), body: Body::empty() }) }
        });
        let server = Server::new().accept(codec_thrift::framed(), Router::new().fallback(look));
        let (wire, _server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let mux = transport_mux::lazy(wire, codec_thrift::framed(), MuxConfig::default());
        let head = RequestHead { method: Name::from_static("any"), ..RequestHead::default() };
        Client::new(mux).call_raw(head, Bytes::from_static(&[0])).await.unwrap();
        assert_eq!(*seen.lock().unwrap(), Some(false));
    });
}

#[test]
#[should_panic(expected = "does not let a server call its client")]
fn a_client_serves_only_where_servers_can_call() {
    let (wire, _script) = Wire::to_script(PipeConfig::default());
    let services = Router::new();
    let _ = transport_mux::lazy_serving(wire, codec_thrift::framed(), MuxConfig::default(), services);
}
