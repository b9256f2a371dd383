//! Servers, further cases: layers around them, chains of them, clients that stall while others come, and answers of all sizes.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use codec_msgpack::Rpc;
use codec_protobuf::KitexHeader;
use codec_thrift::{TType, ThriftReader, ThriftStruct, ThriftValue, ThriftWriter};
use futures::future::join_all;
use rpc_core::layer::TraceLayer;
use rpc_core::{
    Accepts, Body, BoxError, CallOptions, Client, Code, DecodeError, DecodeOutcome, Encode, EncodeError,
    EncodeOutcome, Method, MethodTable, NamedService, Never, Place, Request, Response, ResponseHead, Router,
    Sent, Shape, Stage, Status, Transport,
};
use rpc_net::{Server, ServerConfig};
use rpc_test::transport::{First, Kind, Settings, Subject, patient};
use rpc_test::{Answer, Carries, Net, PipeConfig, Probe, Recorder, Running, Text, Wire, method, run, until};
use rpc_wire::{Framed, Limits};
use tests_matrix::{MuxKind, PoolKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use tower::Service;

type MuxClient = Client<codec_thrift::Binary, transport_mux::Mux<codec_thrift::FramedBinary, Wire>>;

fn thrift(probe: &Probe, config: ServerConfig) -> Server {
    Server::new().config(config).accept(codec_thrift::framed(), Router::new().add(probe.clone()))
}

async fn memory(server: Server) -> (Wire, Running) {
    Wire::to(server, Net::Memory, PipeConfig::default(), []).await
}

fn client(wire: &Wire) -> MuxClient {
    let transport = MuxKind::make(wire.clone(), codec_thrift::framed(), Settings::default());
    Client::new(transport).with(patient())
}

async fn echoes(client: &MuxClient, text: &str) {
    let answer = client.call::<method::Echo>(&Text::new(text)).await;
    assert_eq!(answer.expect("an answer"), Ok(Answer::new(text)));
}

/// A service that calls another to serve its calls, and gives that less time than it has itself.
#[derive(Clone)]
struct Relay<C, T>(Client<C, T>);

impl<C, T> NamedService<C> for Relay<C, T>
where
    C: Carries + Encode<Text> + DecodeOutcome<Answer, Never> + EncodeOutcome<Answer, Never>,
    T: Transport,
{
    const NAME: &'static str = "probe.Probe";

    fn register(&self, table: &mut MethodTable<C>) {
        let client = self.0.clone();
        table.unary::<method::Hold, _, _>(move |context: rpc_core::Context, request| {
            let options = CallOptions::following(&context).timeout(Duration::from_millis(50));
            let call = client.with(options).call::<method::Hold>(&request);
            async move { context.finish::<method::Hold>(call.await.map_err(Status::from)) }
        });
    }
}

/// A deadline that expires in the middle of a chain of services: the middle one fails with the deadline's class, and its caller
/// learns what the protocol has a word for, with the stage in the text.
#[test]
fn c100_a_deadline_in_the_middle_of_a_chain() {
    async fn check<P: Subject>(protocol: P, code: Code)
    where
        P::Codecs: Accepts<Relay<First<P>, transport_mux::Mux<P, Wire>>>,
    {
        let probe = Probe::new();
        let last = Server::new().accept(protocol.clone(), Router::<P::Codecs>::new().add(probe.clone()));
        let (to_last, _last) = memory(last).await;
        let relay = Client::new(MuxKind::make(to_last, protocol.clone(), Settings::default()));
        let recorder = Recorder::new();
        let default = tracing::subscriber::set_default(recorder.clone());
        let middle = Server::new()
            .accept(protocol.clone(), Router::<P::Codecs>::new().add(Relay(relay)))
            .layer(TraceLayer);
        let (to_middle, _middle) = memory(middle).await;
        let first = Client::new(MuxKind::make(to_middle, protocol, Settings::default())).with(patient());
        let error = first.call::<method::Hold>(&Text::new("hi")).await.unwrap_err();
        drop(default);
        assert_eq!(
            (error.code(), error.sent(), error.stage()),
            (code, Sent::Yes, Some(Stage::Peer)),
            "{error}"
        );
        for part in ["deadline exceeded", "while waiting for the answer", "(memory)"] {
            assert!(error.to_string().contains(part), "{part:?} is not in {error}");
        }
        assert_eq!(recorder.values("call", "code"), [["deadline_exceeded"]], "in the middle");
    }
    run(Net::Memory, check(Rpc::new(), Code::DeadlineExceeded));
    // Application exceptions have no number for it.
    run(Net::Memory, check(codec_thrift::framed(), Code::Internal));
    run(Net::Memory, check(Framed::new(KitexHeader), Code::Internal));
}

/// One answer and one request of 64 MiB on one connection, with a thousand small calls beside them: all arrive whole.
#[test]
fn c099_small_calls_beside_a_giant_one() {
    const GIANT: usize = 64 * 1024 * 1024;
    run(Net::Tcp, async {
        let limits = Limits { max_message: GIANT + 1024, ..Limits::default() };
        let probe = Probe::new();
        let config = ServerConfig { limits: limits.clone(), ..ServerConfig::default() };
        let (wire, server) = Wire::to(thrift(&probe, config), Net::Tcp, PipeConfig::default(), []).await;
        let settings = Settings { limits, ..Settings::default() };
        let transport = MuxKind::make(wire.clone(), codec_thrift::framed(), settings);
        let client = Client::new(transport).with(patient());
        let answer = tokio::spawn(client.call::<method::Big>(&Text::new(GIANT.to_string())));
        let request = tokio::spawn(client.call::<method::Echo>(&Text::new("g".repeat(GIANT))));
        let small = (0..1000).map(|i| {
            let client = client.clone();
            tokio::spawn(async move { echoes(&client, &i.to_string()).await })
        });
        for call in join_all(small).await {
            call.expect("no panic");
        }
        for giant in [answer, request].into_iter().map(|call| async { call.await.expect("no panic") }) {
            let answer = giant.await.expect("an answer").unwrap_or_else(|never| match never {});
            assert_eq!(answer.text.len(), GIANT);
        }
        assert_eq!((wire.dials(), server.gauges().accepted()), (1, 1));
        until("nothing is left", || MuxKind::busy(client.transport()) == 0).await;
    });
}

/// Two hundred clients that connect and say nothing, or stop in the middle of a message: one that speaks is answered while the
/// clock stands still, and they are cut at their limits and counted.
#[test]
fn c121_connections_that_stall_hold_up_no_other() {
    run(Net::Memory, async {
        let config = ServerConfig {
            first_byte_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(7),
            ..ServerConfig::default()
        };
        let (wire, server) = memory(thrift(&Probe::new(), config)).await;
        let start = Instant::now();
        let mut stalled = Vec::new();
        for i in 0..200 {
            let mut raw = wire.dial_pipe();
            raw.write_all(&[0, 0, 0, 26, 0x80, 1, 0, 1][..i % 8]).await.unwrap();
            stalled.push(raw);
        }
        until("all are there", || server.gauges().connections() == 200).await;
        for i in 0..20 {
            echoes(&client(&wire), &i.to_string()).await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for (i, raw) in stalled.iter_mut().enumerate() {
            assert_eq!(raw.read(&mut [0]).await.unwrap(), 0);
            assert_eq!(start.elapsed().as_secs(), if i == 0 { 5 } else { start.elapsed().as_secs() });
        }
        assert_eq!(start.elapsed().as_secs(), 7);
        until("their places are free", || server.gauges().connections() == 0).await;
    });
}

/// Has a method that another service has too.
#[derive(Clone)]
struct Second;

impl NamedService<codec_thrift::Binary> for Second {
    const NAME: &'static str = "probe.Second";

    fn register(&self, table: &mut MethodTable<codec_thrift::Binary>) {
        table.unary::<method::Echo, _, _>(|context: rpc_core::Context, _| async move {
            context.finish::<method::Echo>(Ok(Ok(Answer::new("second"))))
        });
    }
}

/// A method that two services have is refused where the call names none, and is found where it does.
#[test]
fn c039_a_name_of_two_services_is_no_guess() {
    run(Net::Memory, async {
        let router = Router::new().add(Probe::new()).add(Second);
        let (wire, _server) = memory(Server::new().accept(codec_thrift::framed(), router)).await;
        let error = client(&wire).call::<method::Echo>(&Text::new("whose?")).await.unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        assert!(error.to_string().contains("several services (probe.Probe, probe.Second)"), "{error}");
        let mut raw = wire.dial_pipe();
        for (name, answer) in [(&b"Second:echo"[..], &b"second"[..]), (b"Probe:echo", b"hi")] {
            let len = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
            let message = [
                &[0x80, 1, 0, 1, 0, 0, 0, len(name)][..],
                name,
                &[0, 0, 0, 7, 0x0b, 0, 1, 0, 0, 0, 2, b'h', b'i', 0],
            ]
            .concat();
            raw.write_all(&[&[0, 0, 0, len(&message)][..], &message].concat()).await.unwrap();
            let expected = [
                &[0x80, 1, 0, 2, 0, 0, 0, 4][..],
                b"echo",
                &[0, 0, 0, 7, 0x0b, 0, 0, 0, 0, 0, len(answer)],
                answer,
                &[0],
            ]
            .concat();
            let mut found = vec![0; 4 + expected.len()];
            raw.read_exact(&mut found).await.unwrap();
            assert_eq!(found[4..], expected);
        }
    });
}

/// A type whose reading panics.
#[derive(Debug)]
struct Explosive;

impl ThriftValue for Explosive {
    const TTYPE: TType = TType::Struct;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        Text::new("boom").write(writer)
    }

    fn read<R: ThriftReader>(_: &mut R) -> Result<Self, DecodeError> {
        panic!("in the reading of a type")
    }
}

impl ThriftStruct for Explosive {}

#[derive(Debug)]
enum Explode {}

impl Method for Explode {
    const SERVICE: &'static str = "explosive";
    const NAME: &'static str = "explode";
    const SHAPE: Shape = Shape::Unary;
    const REQUEST: Place = Place::Arguments;
    type Request = Explosive;
    type Response = Answer;
    type Exception = Never;
}

#[derive(Clone)]
struct Explosives;

impl NamedService<codec_thrift::Binary> for Explosives {
    const NAME: &'static str = "explosive";

    fn register(&self, table: &mut MethodTable<codec_thrift::Binary>) {
        table.unary::<Explode, _, _>(|context: rpc_core::Context, _| async move {
            context.finish::<Explode>(Ok(Ok(Answer::new("never"))))
        });
    }
}

/// A panic in the decoding of a type is an internal error of that call; its neighbours on the connection finish.
#[test]
fn c117_a_panic_in_a_types_decoding_hurts_one_call() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let router = Router::new().add(probe.clone()).add(Explosives);
        let (wire, server) = memory(Server::new().accept(codec_thrift::framed(), router)).await;
        let client = client(&wire);
        let neighbours: Vec<_> =
            (0..50).map(|_| tokio::spawn(client.call::<method::Hold>(&Text::new("neighbour")))).collect();
        until("the neighbours run", || probe.holding() == 50).await;
        for _ in 0..3 {
            let error = client.call::<Explode>(&Explosive).await.unwrap_err();
            assert_eq!((error.code(), error.sent()), (Code::Internal, Sent::Yes), "{error}");
            assert!(!error.to_string().contains("in the reading"), "{error}");
        }
        probe.release(50);
        for neighbour in neighbours {
            assert!(neighbour.await.expect("no panic").is_ok());
        }
        assert_eq!(wire.dials(), 1);
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

/// What becomes of an outcome on its way through a layer.
#[derive(Clone, Copy)]
enum Hook {
    PassOn,
    /// Another failure in place of the handler's.
    Refuse,
    /// A value in place of the failure.
    Fallback,
    /// An error of its own.
    Break,
}

#[derive(Clone)]
struct Hooked<S>(S, Hook);

impl<S> Service<Request<Body>> for Hooked<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let hook = self.1;
        let future = self.0.call(request);
        Box::pin(async move {
            let response = future.await.map_err(Into::into)?;
            match hook {
                Hook::PassOn => Ok(response),
                Hook::Refuse => {
                    let status = Status::permission_denied("the hook's");
                    Ok(Response { head: ResponseHead::failed(status), body: Body::empty() })
                }
                Hook::Fallback => {
                    let text = [&[0x0b, 0, 0, 0, 0, 0, 8][..], b"fallback", &[0]].concat();
                    Ok(Response { head: ResponseHead::ok(), body: Body::Once(text.into()) })
                }
                Hook::Break => Err("the hook broke".into()),
            }
        })
    }
}

/// The outcome is what the outermost layer makes of it, on either side, and nothing else changes it; what each made of it is in
/// the spans below and above.
#[test]
fn c175_a_layer_replaces_an_outcome_on_purpose_only() {
    async fn check(on_server: bool, hook: Hook) -> (Result<Answer, rpc_core::Error>, Vec<String>) {
        let recorder = Recorder::new();
        let _default = tracing::subscriber::set_default(recorder.clone());
        let mut server = thrift(&Probe::new(), ServerConfig::default());
        if on_server {
            server = server
                .layer(TraceLayer)
                .layer(tower::layer::layer_fn(move |inner| Hooked(inner, hook)))
                .layer(TraceLayer);
        }
        let (wire, _server) = memory(server).await;
        let transport = PoolKind::make(wire, codec_thrift::framed(), Settings::default());
        // The method answers with something that can not be encoded: its failure is `internal`.
        let request = Text::new("");
        let answer = if on_server {
            Client::new(transport).with(patient()).call::<method::Unencodable>(&request).await
        } else {
            let stack = tower::ServiceBuilder::new()
                .layer(TraceLayer)
                .layer_fn(|inner| Hooked(inner, hook))
                .layer(TraceLayer)
                .service(transport);
            let client = Client::with_codec(codec_thrift::Binary, stack).with(patient());
            client.call::<method::Unencodable>(&request).await
        };
        let mut codes = recorder.values("call", "code").concat();
        codes.sort_unstable();
        (answer.map(|outcome| outcome.unwrap_or_else(|never| match never {})), codes)
    }
    run(Net::Memory, async {
        for on_server in [true, false] {
            let (answer, codes) = check(on_server, Hook::PassOn).await;
            assert_eq!(answer.unwrap_err().code(), Code::Internal);
            assert_eq!(codes, ["internal", "internal"]);

            let (answer, codes) = check(on_server, Hook::Refuse).await;
            let error = answer.unwrap_err();
            assert!(error.to_string().contains("the hook's"), "{error}");
            assert_eq!(codes, ["internal", "permission_denied"]);

            let (answer, codes) = check(on_server, Hook::Fallback).await;
            assert_eq!(answer.expect("a value"), Answer::new("fallback"));
            assert_eq!(codes, ["internal", "ok"]);

            let (answer, codes) = check(on_server, Hook::Break).await;
            let error = answer.unwrap_err();
            assert!(error.to_string().contains("the hook broke"), "{error}");
            assert_eq!(codes, ["internal", "unknown"]);
        }
    });
}

/// The same on the server's side as on the client's: each call that arrived has one beginning and one end.
#[test]
fn c172_one_beginning_and_one_end_on_the_server() {
    const EACH: usize = 200;
    let recorder = Recorder::new();
    let _default = tracing::subscriber::set_default(recorder.clone());
    run(Net::Memory, async {
        let probe = Probe::new();
        let (wire, mut server) = memory(thrift(&probe, ServerConfig::default()).layer(TraceLayer)).await;
        let (client, other) = (client(&wire), client(&wire));
        let mut calls = tokio::task::JoinSet::new();
        for i in 0..EACH {
            let client = client.clone();
            calls.spawn(async move {
                let text = Text::new(i.to_string());
                client.call::<method::Echo>(&text).await.unwrap().unwrap();
                client.call::<method::Unknown>(&text).await.unwrap_err();
                client.call::<method::Panic>(&text).await.unwrap_err();
                client.call::<method::Unencodable>(&text).await.unwrap_err();
                client.send::<method::Fire>(&text).await.unwrap();
            });
        }
        while let Some(call) = calls.join_next().await {
            call.expect("no panic");
        }
        // A connection that ends under its calls.
        let held: Vec<_> =
            (0..EACH).map(|_| tokio::spawn(other.call::<method::Hold>(&Text::new("cut")))).collect();
        until("they run", || probe.holding() == EACH).await;
        held.iter().for_each(tokio::task::JoinHandle::abort);
        drop(other);
        for call in held {
            call.await.expect_err("it was given up");
        }
        until("their handlers are dropped", || probe.dropped() == EACH).await;
        until("the oneway calls ran", || probe.fired() == EACH).await;
        drop(client);
        server.stopped().await;
        assert_eq!(server.gauges().in_flight(), 0);
    });
    assert_eq!(recorder.open("call"), 0);
    let codes = recorder.values("call", "code");
    assert!(codes.iter().all(|codes| codes.len() == 1), "each call ends once");
    let count = |code: &str| codes.iter().filter(|codes| codes[0] == code).count();
    // Echo and the oneway call; the unknown method; the panic and the answer that can not be encoded; what was cut.
    assert_eq!(["ok", "unimplemented", "internal", "dropped"].map(count), [2 * EACH, EACH, 2 * EACH, EACH]);
    assert_eq!(codes.len(), 6 * EACH);
}
