//! Servers that stay up: what slow, silent, greedy and vanishing clients can not do to them. In memory the clock is paused, so
//! that time limits pass at once; over TCP nothing depends on time.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::future::{Future, Ready, ready};
use std::panic::panic_any;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use codec_protobuf::KitexHeader;
use futures::future::join_all;
use rpc_core::{Body, BoxError, Client, Code, Dispatch, Request, Response, Router};
use rpc_net::{Server, ServerConfig};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{
    Answer, Net, PipeConfig, Probe, Recorder, Running, Text, Wire, golden, method, run, step, until,
};
use rpc_wire::{Framed, Limits};
use tests_matrix::MuxKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::Service;
use tower::limit::GlobalConcurrencyLimitLayer;

fn thrift(probe: &Probe, config: ServerConfig) -> Server {
    Server::new().config(config).accept(codec_thrift::framed(), Router::new().add(probe.clone()))
}

async fn serve(net: Net, config: ServerConfig) -> (Probe, Wire, Running) {
    let probe = Probe::new();
    let (wire, server) = Wire::to(thrift(&probe, config), net, PipeConfig::default(), []).await;
    (probe, wire, server)
}

type MuxClient = Client<codec_thrift::Binary, transport_mux::Mux<codec_thrift::FramedBinary, Wire>>;

fn client(wire: &Wire) -> MuxClient {
    let transport = MuxKind::make(wire.clone(), codec_thrift::framed(), Settings::default());
    Client::new(transport).with(patient())
}

async fn echoes(client: &MuxClient, text: &str) {
    assert_eq!(
        client.call::<method::Echo>(&Text::new(text)).await.expect("an answer"),
        Ok(Answer::new(text))
    );
}

/// A framed call of a method with a text.
fn call(name: &str, text: &str) -> Vec<u8> {
    let length = |text: &str| u32::try_from(text.len()).unwrap().to_be_bytes();
    let message = [
        &[0x80, 1, 0, 1][..],
        &length(name),
        name.as_bytes(),
        &[0, 0, 0, 1],
        &[0x0b, 0, 1],
        &length(text),
        text.as_bytes(),
        &[0],
    ]
    .concat();
    [&u32::try_from(message.len()).unwrap().to_be_bytes(), &message[..]].concat()
}

const ECHO_HI: &str =
    "00 00 00 1a 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 01 00 00 00 02 68 69 00";

#[test]
fn c103_the_end_of_a_connection_drops_its_handlers() {
    run(Net::Memory, async {
        for reset in [false, true] {
            let (probe, wire, server) = serve(Net::Memory, ServerConfig::default()).await;
            let other = client(&wire);
            let neighbour = tokio::spawn(other.call::<method::Hold>(&Text::new("on another connection")));
            let mut raw = wire.dial_pipe();
            raw.write_all(&[call("hold", "a"), call("hold", "b"), call("echo", "c")].concat()).await.unwrap();
            until("the handlers run", || probe.holding() == 3).await;
            if reset {
                raw.reset()
            } else {
                drop(raw)
            }
            until("its handlers are dropped", || probe.dropped() == 2).await;
            until("its calls are gone", || server.gauges().in_flight() == 1).await;
            assert_eq!((probe.holding(), probe.echoed()), (1, 1));
            probe.release(1);
            assert!(neighbour.await.expect("no panic").is_ok());
        }
    });
}

#[test]
fn c103_wherever_a_handler_runs_the_end_of_its_connection_drops_it() {
    for dispatch in [Dispatch::Adaptive, Dispatch::Inline, Dispatch::Spawn, Dispatch::Blocking] {
        run(Net::Tcp, async {
            let probe = Probe::new();
            let router = Router::new().add_with(probe.clone(), dispatch);
            let server = Server::new().accept(codec_thrift::framed(), router);
            let (wire, server) = Wire::to(server, Net::Tcp, PipeConfig::default(), []).await;
            let mut raw = wire.dial().await.unwrap();
            raw.write_all(&call("hold", "a")).await.unwrap();
            until("the handler runs", || probe.holding() == 1).await;
            drop(raw);
            until("the handler is dropped", || probe.dropped() == 1).await;
            until("its call is gone", || server.gauges().in_flight() == 0).await;
        });
    }
}

/// A mux has no word for a call that is given up, so its handler runs on; the others on the connection are not touched.
#[test]
fn c103_a_call_that_is_given_up_takes_no_other_with_it() {
    run(Net::Memory, async {
        let (probe, wire, server) = serve(Net::Memory, ServerConfig::default()).await;
        let client = client(&wire);
        let kept = tokio::spawn(client.call::<method::Hold>(&Text::new("kept")));
        let given_up = tokio::spawn(client.call::<method::Hold>(&Text::new("given up")));
        until("both run", || probe.holding() == 2).await;
        given_up.abort();
        echoes(&client, "meanwhile").await;
        probe.release(2);
        assert_eq!(kept.await.expect("no panic").expect("an answer"), Ok(Answer::new("kept")));
        until("both have returned", || probe.holding() == 0 && server.gauges().in_flight() == 0).await;
    });
}

#[test]
fn a_handler_that_answers_nothing_outlives_its_connection() {
    run(Net::Memory, async {
        let (probe, wire, _server) = serve(Net::Memory, ServerConfig::default()).await;
        let mut raw = wire.dial_pipe();
        let mut oneway = call("hold", "alone");
        oneway[7] = 4;
        raw.write_all(&oneway).await.unwrap();
        until("the handler runs", || probe.holding() == 1).await;
        drop(raw);
        for _ in 0..50 {
            step().await;
        }
        assert_eq!((probe.holding(), probe.dropped()), (1, 0));
        probe.release(1);
        until("it has returned", || probe.holding() == 0).await;
        assert_eq!(probe.dropped(), 0);
    });
}

/// Panics where it is told to: when it is called, or in its future; with a text or without.
#[derive(Clone)]
struct Panicking<S>(S);

impl<S> Service<Request<Body>> for Panicking<S>
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
        assert!(request.head.method != "nope", "in the call");
        let slow = request.head.method == "slow";
        let future = self.0.call(request);
        Box::pin(async move {
            if slow {
                tokio::task::yield_now().await;
                panic_any(42);
            }
            future.await.map_err(Into::into)
        })
    }
}

#[test]
fn c117_a_panic_in_a_layer_hurts_one_call() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let server = thrift(&probe, ServerConfig::default()).layer(tower::layer::layer_fn(Panicking));
        let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let client = client(&wire);
        let mut neighbours = JoinSet::new();
        for _ in 0..50 {
            neighbours.spawn(client.call::<method::Hold>(&Text::new("neighbour")));
        }
        until("the neighbours run", || probe.holding() == 50).await;
        for _ in 0..3 {
            let error = client.call::<method::Unknown>(&Text::new("")).await.unwrap_err();
            assert_eq!(error.code(), Code::Internal, "{error}");
            let error = client.call::<method::Slow>(&Text::new("1")).await.unwrap_err();
            assert_eq!(error.code(), Code::Internal, "{error}");
        }
        probe.release(50);
        while let Some(neighbour) = neighbours.join_next().await {
            assert!(neighbour.expect("no panic").is_ok());
        }
        assert_eq!(wire.dials(), 1);
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

#[test]
fn c119_connections_that_never_speak_are_closed_and_idle_ones_are_not() {
    run(Net::Memory, async {
        let config = ServerConfig {
            first_byte_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(7),
            ..ServerConfig::default()
        };
        let (_probe, wire, server) = serve(Net::Memory, config).await;
        let established = client(&wire);
        echoes(&established, "hello").await;
        let start = Instant::now();
        let (mut silent, mut slow, mut half) = (wire.dial_pipe(), wire.dial_pipe(), wire.dial_pipe());
        slow.write_all(&[0, 0, 0]).await.unwrap();
        half.write_all(&call("echo", "half a message")[..20]).await.unwrap();
        let mut rest = Vec::new();
        silent.read_to_end(&mut rest).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 5);
        slow.read_to_end(&mut rest).await.unwrap();
        half.read_to_end(&mut rest).await.unwrap();
        assert_eq!((start.elapsed().as_secs(), rest.len()), (7, 0));
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(server.gauges().connections(), 1);
        echoes(&established, "still here").await;
        assert_eq!(wire.dials(), 1);
    });
}

/// A client that sends one byte a second is cut as one that sends none.
#[test]
fn c120_a_message_has_to_be_whole_in_time() {
    run(Net::Memory, async {
        let config = ServerConfig { stall_timeout: Duration::from_secs(7), ..ServerConfig::default() };
        let (probe, wire, _server) = serve(Net::Memory, config).await;
        let start = Instant::now();
        let mut raw = wire.dial_pipe();
        for byte in golden::bytes(ECHO_HI) {
            if raw.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let mut rest = Vec::new();
        raw.read_to_end(&mut rest).await.ok();
        // It finds out with the next byte that it sends.
        assert_eq!((start.elapsed().as_secs(), rest.len(), probe.echoed()), (8, 0, 0));
    });
}

/// A client that reads ten bytes a second is cut as one that reads nothing.
#[test]
fn c120_answers_are_not_read_in_crumbs() {
    run(Net::Memory, async {
        let config = ServerConfig { stall_timeout: Duration::from_secs(7), ..ServerConfig::default() };
        let server =
            Server::new().config(config).accept(codec_thrift::framed(), Router::new().add(Probe::new()));
        let pipe = PipeConfig { capacity: 64, ..PipeConfig::default() };
        let (wire, server) = Wire::to(server, Net::Memory, pipe, []).await;
        let mut raw = wire.dial_pipe();
        let call = [
            &[0, 0, 0, 30, 0x80, 1, 0, 1, 0, 0, 0, 3][..],
            b"big",
            &[0, 0, 0, 1, 0x0b, 0, 1, 0, 0, 0, 7],
            b"1000000",
            &[0],
        ];
        raw.write_all(&call.concat()).await.unwrap();
        let start = Instant::now();
        let mut crumb = [0; 10];
        // It finds out once it has read what was on its way.
        while raw.read(&mut crumb).await.is_ok_and(|count| count > 0) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(start.elapsed() < Duration::from_secs(7 + 64 / 10 + 2), "{:?}", start.elapsed());
        assert_eq!(server.gauges().connections(), 0);
    });
}

/// The same where the first bytes choose the protocol.
#[test]
fn c119_connections_that_do_not_decide_are_closed() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let config = ServerConfig { first_byte_timeout: Duration::from_secs(5), ..ServerConfig::default() };
        let server =
            thrift(&probe, config).accept(Framed::new(KitexHeader), Router::new().add(probe.clone()));
        let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let start = Instant::now();
        let (mut silent, mut undecided) = (wire.dial_pipe(), wire.dial_pipe());
        undecided.write_all(&[0, 0, 0]).await.unwrap();
        let mut rest = Vec::new();
        silent.read_to_end(&mut rest).await.unwrap();
        undecided.read_to_end(&mut rest).await.unwrap();
        assert_eq!((start.elapsed().as_secs(), rest.len()), (5, 0));
        assert_eq!(server.gauges().connections(), 0);
    });
}

#[test]
fn one_port_serves_several_protocols_and_refuses_others() {
    for net in [Net::Memory, Net::Tcp] {
        run(net, async {
            let probe = Probe::new();
            let kitex = Framed::new(KitexHeader);
            let server = thrift(&probe, ServerConfig::default())
                .accept(kitex.clone(), Router::new().add(probe.clone()));
            let pieces = PipeConfig::in_pieces(1);
            let (wire, _server) = Wire::to(server, net, pieces, []).await;
            echoes(&client(&wire), "thrift").await;
            let transport = MuxKind::make(wire.clone(), kitex, Settings::default());
            let client = Client::new(transport).with(patient());
            let answer = client.call::<method::Echo>(&Text::new("protobuf")).await;
            assert_eq!(answer.expect("an answer"), Ok(Answer::new("protobuf")));
            for hello in
                [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x16, 3, 1, 2, 0], &[0, 0, 0, 9, 1, 2, 3], &[0, 0]]
            {
                let mut raw = wire.dial().await.unwrap();
                raw.write_all(hello).await.unwrap();
                raw.shutdown().await.ok();
                let mut rest = Vec::new();
                raw.read_to_end(&mut rest).await.ok();
                assert_eq!(rest, b"");
            }
            assert_eq!(probe.echoed(), 2);
        });
    }
}

/// Those above the cap wait in the backlog, and are served when others leave.
#[test]
fn c124_connections_above_the_cap_wait_their_turn() {
    run(Net::Tcp, async {
        let config = ServerConfig { max_connections: 10, ..ServerConfig::default() };
        let (_probe, wire, server) = serve(Net::Tcp, config).await;
        let mut connections = Vec::new();
        for _ in 0..50 {
            let mut raw = wire.dial().await.expect("the backlog has room");
            raw.write_all(&golden::bytes(ECHO_HI)).await.unwrap();
            connections.push(raw);
        }
        let mut answer = [0; 30];
        for raw in &mut connections[..10] {
            raw.read_exact(&mut answer).await.unwrap();
        }
        assert_eq!((server.gauges().connections(), server.gauges().accepted()), (10, 10));
        connections.drain(..20); // ten that were served, and ten that leave while they wait
        for raw in &mut connections[..10] {
            raw.read_exact(&mut answer).await.unwrap();
            assert!(server.gauges().connections() <= 10);
        }
        drop(connections);
        until("the count recovers", || server.gauges().connections() == 0).await;
        echoes(&client(&wire), "after all").await;
    });
}

#[test]
fn c126_fifty_calls_finish_while_the_server_stops() {
    run(Net::Tcp, async {
        let (probe, wire, mut server) = serve(Net::Tcp, ServerConfig::default()).await;
        let clients: Vec<_> = (0..5).map(|_| client(&wire)).collect();
        let mut calls = JoinSet::new();
        for i in 0..50 {
            calls.spawn(clients[i % 5].call::<method::Hold>(&Text::new(i.to_string())));
        }
        until("all run", || probe.holding() == 50).await;
        server.begin_stop();
        while wire.dial().await.is_ok() {
            step().await;
        }
        probe.release(50);
        let mut answered = 0;
        while let Some(call) = calls.join_next().await {
            assert!(call.expect("no panic").is_ok());
            answered += 1;
        }
        server.stopped().await;
        assert_eq!((answered, server.gauges().connections(), server.gauges().in_flight()), (50, 0, 0));
    });
}

#[test]
fn c127_a_stop_is_bounded_whoever_does_not_end() {
    run(Net::Memory, async {
        let config = ServerConfig { drain_timeout: Duration::from_secs(3), ..ServerConfig::default() };
        let (probe, wire, mut server) = serve(Net::Memory, config).await;
        let endless = tokio::spawn(client(&wire).call::<method::Hold>(&Text::new("endless")));
        let mut deaf = wire.dial_pipe();
        deaf.write_all(&call("big", "1000000")).await.unwrap();
        let _silent = wire.dial_pipe();
        until("both run", || probe.holding() == 1 && probe.big() == 1).await;
        let start = Instant::now();
        server.stopped().await;
        assert_eq!(start.elapsed().as_secs(), 3);
        assert_eq!(endless.await.expect("no panic").unwrap_err().code(), Code::Unavailable);
        until("the handler is dropped", || probe.dropped() == 1).await;
        assert_eq!((server.gauges().connections(), server.gauges().in_flight()), (0, 0));
    });
}

const BUDGET: usize = 100 * 1024;
const ANSWER: usize = 10 * 1024;

/// A client that asks for much and reads nothing is not read from any more once the budget is used up.
#[test]
fn c130_a_client_that_never_reads_holds_back_itself() {
    run(Net::Memory, async {
        let pipe = PipeConfig { chunk: 64 * 1024, ..PipeConfig::default() };
        let config = ServerConfig { write_budget: BUDGET, ..ServerConfig::default() };
        // Inline: handlers that run elsewhere are bounded by their number alone.
        let probe = Probe::new();
        let router = Router::new().add_with(probe.clone(), Dispatch::Inline);
        let server = Server::new().config(config).accept(codec_thrift::framed(), router);
        let (wire, server) = Wire::to(server, Net::Memory, pipe, []).await;
        let deaf = wire.dial_pipe();
        let (mut from, mut to) = tokio::io::split(deaf);
        let requests = 10_000;
        let one = call("big", &ANSWER.to_string());
        let writing = tokio::spawn(async move { to.write_all(&one.repeat(requests)).await });
        let mut made = 0;
        loop {
            for _ in 0..100 {
                step().await;
            }
            if probe.big() == made && made > 0 {
                break;
            }
            made = probe.big();
        }
        let most = (BUDGET + pipe.capacity) / ANSWER + 2;
        assert!(made <= most, "{made} answers of {ANSWER} bytes were made, {most} are allowed");
        assert!(!writing.is_finished(), "the server took all requests");
        echoes(&client(&wire), "others notice nothing").await;
        // It was not cut yet: when it reads, it gets all.
        let mut bytes = 0;
        let mut buffer = vec![0; 64 * 1024];
        let frame = ANSWER + 4 + 12 + "big".len() + 3 + 4 + 1;
        while bytes < requests * frame {
            let count = from.read(&mut buffer).await.unwrap();
            assert_ne!(count, 0, "the connection ended after {bytes} bytes, {} answers", probe.big());
            bytes += count;
        }
        assert_eq!((bytes, probe.big()), (requests * frame, requests));
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

#[test]
fn c130_a_client_that_never_reads_is_cut() {
    run(Net::Memory, async {
        let config = ServerConfig { stall_timeout: Duration::from_secs(7), ..ServerConfig::default() };
        let (_probe, wire, server) = serve(Net::Memory, config).await;
        let start = Instant::now();
        let mut deaf = wire.dial_pipe();
        deaf.write_all(&call("big", "1000000")).await.unwrap();
        until("it is served", || server.gauges().connections() == 1).await;
        while server.gauges().connections() > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(start.elapsed().as_secs(), 7);
    });
}

/// Requests that wait for a service to be ready, a full table of calls, or a reader are not the peer's delay.
#[test]
fn a_message_that_the_server_holds_up_is_not_late() {
    run(Net::Memory, async {
        let config = ServerConfig {
            stall_timeout: Duration::from_secs(5),
            limits: Limits { max_in_flight: 2, ..Limits::default() },
            ..ServerConfig::default()
        };
        for limit in [1, 100] {
            let probe = Probe::new();
            let server = thrift(&probe, config.clone()).layer(GlobalConcurrencyLimitLayer::new(limit));
            let (wire, _server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
            let mut raw = wire.dial_pipe();
            let half = call("echo", "half");
            let calls =
                [call("hold", "a"), call("hold", "b"), call("hold", "c"), half[..9].to_vec()].concat();
            raw.write_all(&calls).await.unwrap();
            until("as many run as may", || probe.holding() == limit.min(2)).await;
            tokio::time::sleep(Duration::from_secs(20)).await;
            raw.write_all(&half[9..]).await.unwrap();
            probe.release_all();
            let mut answers = vec![0; 3 * 29 + 32];
            raw.read_exact(&mut answers).await.expect("four answers");
        }
    });
}

/// A layer's limit holds over all connections, and calls above it wait without harm.
#[test]
fn c116_a_limit_around_the_server_holds() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let server = thrift(&probe, ServerConfig::default()).layer(GlobalConcurrencyLimitLayer::new(3));
        let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let clients: Vec<_> = (0..4).map(|_| client(&wire)).collect();
        let mut calls = JoinSet::new();
        for i in 0..40 {
            calls.spawn(clients[i % 4].call::<method::Hold>(&Text::new("held")));
        }
        for done in 0..=10 {
            until("as many run as may", || probe.began() == (done * 3 + 3).min(40)).await;
            for _ in 0..50 {
                step().await;
                assert!(probe.holding() <= 3);
            }
            probe.release(3);
        }
        probe.release_all();
        while let Some(call) = calls.join_next().await {
            assert_eq!(call.expect("no panic").expect("an answer"), Ok(Answer::new("held")));
        }
        until("nothing is left", || server.gauges().in_flight() == 0).await;
    });
}

/// Health checks, clients that go without a word and graceful stops leave nothing above debug; garbage is reported, but less and
/// less often, and says what it looks like.
#[test]
fn c174_the_log_is_quiet_when_all_is_well() {
    let recorder = Recorder::new();
    let _default = tracing::subscriber::set_default(recorder.clone());
    // On one thread, since the recorder is that thread's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (_probe, wire, mut server) = serve(Net::Tcp, ServerConfig::default()).await;
        for _ in 0..50 {
            drop(wire.dial().await.unwrap());
        }
        for _ in 0..5 {
            echoes(&client(&wire), "and gone").await;
        }
        let mut raw = wire.dial().await.unwrap();
        raw.write_all(&call("hold", "cut off")).await.unwrap();
        raw.write_all(&call("echo", "half")[..9]).await.unwrap();
        drop(raw);
        until("all are gone", || server.gauges().connections() == 0 && server.gauges().accepted() == 56)
            .await;
        let loud = |recorder: &Recorder| {
            let events = recorder.events().into_iter();
            events.filter(|event| event.level <= tracing::Level::INFO).collect::<Vec<_>>()
        };
        assert_eq!(loud(&recorder), []);

        for _ in 0..200 {
            let mut raw = wire.dial().await.unwrap();
            raw.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            let mut rest = Vec::new();
            raw.read_to_end(&mut rest).await.ok();
        }
        until("all are counted", || server.gauges().broken() >= 200).await;
        let reports = loud(&recorder);
        assert!(reports.iter().all(|event| event.level == tracing::Level::WARN), "{reports:?}");
        assert!(reports.iter().any(|event| event.text.contains("looks like HTTP")), "{reports:?}");
        assert!(reports.len() <= 10, "{} reports of 200 breaches", reports.len());
        server.stopped().await;
        assert_eq!(loud(&recorder).len(), reports.len());
    });
}

#[test]
fn a_panic_is_logged_once_with_its_text() {
    let recorder = Recorder::new();
    let _default = tracing::subscriber::set_default(recorder.clone());
    run(Net::Memory, async {
        let (_probe, wire, _server) = serve(Net::Memory, ServerConfig::default()).await;
        client(&wire).call::<method::Panic>(&Text::new("this")).await.unwrap_err();
        let errors: Vec<_> =
            recorder.events().into_iter().filter(|event| event.level == tracing::Level::ERROR).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].text.contains("as it was told to: this"), "{errors:?}");
    });
}

#[test]
fn answers_leave_in_the_order_of_their_requests_where_that_is_asked_for() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let server = thrift(&probe, ServerConfig::default()).ordered();
        let (wire, _server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let client = client(&wire);
        let slow = tokio::spawn(client.call::<method::Hold>(&Text::new("slow")));
        until("it runs", || probe.holding() == 1).await;
        let quick = tokio::spawn(client.call::<method::Echo>(&Text::new("quick")));
        until("both ran", || probe.echoed() == 1).await;
        for _ in 0..50 {
            step().await;
        }
        assert!(!quick.is_finished());
        probe.release(1);
        let (slow, quick) = tokio::join!(slow, quick);
        assert_eq!(slow.unwrap().unwrap(), Ok(Answer::new("slow")));
        assert_eq!(quick.unwrap().unwrap(), Ok(Answer::new("quick")));
    });
}

/// Go's Thrift writes its oneway calls as calls; an answer would be taken for that of its next call.
#[test]
fn a_oneway_method_is_not_answered_however_it_is_called() {
    fn call(name: &[u8; 4], id: u8, arguments: &[u8]) -> Vec<u8> {
        let head = [&[0x80, 1, 0, 1, 0, 0, 0, 4][..], name, &[0, 0, 0, id]].concat();
        let len = u8::try_from(head.len() + arguments.len()).unwrap();
        [&[0, 0, 0, len], &head[..], arguments].concat()
    }
    run(Net::Memory, async {
        let (probe, wire, _server) = serve(Net::Memory, ServerConfig::default()).await;
        let mut raw = wire.dial_pipe();
        let hi = [0x0b, 0, 1, 0, 0, 0, 2, b'h', b'i', 0];
        // The second can not be decoded: that is not answered either.
        let calls = [call(b"fire", 1, &hi), call(b"fire", 2, &[0x0b, 0]), call(b"echo", 3, &hi)];
        raw.write_all(&calls.concat()).await.unwrap();
        let mut answer = [0; 20];
        raw.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[4..], [&[0x80, 1, 0, 2, 0, 0, 0, 4][..], b"echo", &[0, 0, 0, 3]].concat());
        assert_eq!((probe.fired(), probe.echoed()), (1, 1));
    });
}

/// A service of layers alone, for proxies: it gets the bytes.
#[test]
fn a_fallback_serves_what_nobody_else_does() {
    #[derive(Clone)]
    struct Mirror;
    impl Service<Request<Body>> for Mirror {
        type Response = Response<Body>;
        type Error = BoxError;
        type Future = Ready<Result<Response<Body>, BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Body>) -> Self::Future {
            ready(Ok(Response { head: rpc_core::ResponseHead::ok(), body: request.body }))
        }
    }
    run(Net::Memory, async {
        let router = Router::new().add(Probe::new()).fallback(Mirror);
        let server = Server::new().accept(codec_thrift::framed(), router);
        let (wire, _server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let client = client(&wire);
        echoes(&client, "served").await;
        let head = rpc_core::RequestHead { method: "nope".into(), ..Default::default() };
        let bodies = join_all((0..10_u8).map(|i| client.call_raw(head.clone(), vec![i; 100].into()))).await;
        for (i, body) in bodies.into_iter().enumerate() {
            assert_eq!(body.unwrap().body, vec![u8::try_from(i).unwrap(); 100]);
        }
    });
}
