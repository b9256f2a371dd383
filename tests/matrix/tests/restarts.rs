//! Servers that go and come back under their clients.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codec_thrift::{Binary, framed};
use rpc_core::{
    Body, Client, Code, Request, RequestHead, Response, ResponseHead, Router, Sent, Speaks, Stage, Transport,
    TransportError, TransportErrorKind,
};
use rpc_net::{Connect, Server, Stream};
use rpc_test::transport::patient;
use rpc_test::{Net, PipeConfig, Probe, Running, Text, Wire, method, run};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::service_fn;
use transport_mux::MuxConfig;
use transport_pool::PoolConfig;

/// The servers that can be reached now, in turn; attempts are written down.
#[derive(Clone)]
struct Place {
    servers: Arc<Mutex<Vec<Wire>>>,
    turn: Arc<AtomicUsize>,
    attempts: Arc<Mutex<Vec<Instant>>>,
    /// Where attempts fail while there is none.
    fails_at: Stage,
    name: Arc<str>,
}

impl Place {
    fn new(fails_at: Stage) -> Self {
        let (servers, turn, attempts) = Default::default();
        Self { servers, turn, attempts, fails_at, name: "the place".into() }
    }

    /// The same servers, for a client of its own.
    fn for_another(&self) -> Self {
        Self { attempts: Arc::default(), ..self.clone() }
    }

    fn attempts(&self) -> Vec<Instant> {
        self.attempts.lock().unwrap().clone()
    }
}

impl Connect for Place {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        self.attempts.lock().unwrap().push(Instant::now());
        let turn = self.turn.fetch_add(1, Ordering::SeqCst);
        let chosen = {
            let servers = self.servers.lock().unwrap();
            servers.get(turn % servers.len().max(1)).cloned()
        };
        match chosen {
            Some(wire) => wire.connect().await,
            None => Err(TransportError::new(TransportErrorKind::Connect, self.fails_at, Sent::No)
                .at(self.name.clone())),
        }
    }

    fn endpoint(&self) -> &Arc<str> {
        &self.name
    }
}

async fn serve_probe() -> (Wire, Running) {
    let server = Server::new().accept(framed(), Router::new().add(Probe::new()));
    Wire::to(server, Net::Memory, PipeConfig::default(), []).await
}

const CLIENTS: usize = 200;
const DOWN: Duration = Duration::from_secs(20);
/// The longest that a back-off waits.
const LONGEST: Duration = Duration::from_secs(5);

/// Two hundred clients make twenty calls a second each; their server is away for twenty seconds, unreachable or without a name.
/// They try again less and less often and each at its own time, and soon after the server is back each has as many connections
/// as it should, and no call fails any more.
async fn storm<T: Transport + Speaks<Codec = Binary> + Debug>(
    fails_at: Stage,
    make: impl Fn(Place) -> T,
    connections: usize,
) {
    let place = Place::new(fails_at);
    let (wire, mut server) = serve_probe().await;
    place.servers.lock().unwrap().push(wire);
    let places: Vec<_> = (0..CLIENTS).map(|_| place.for_another()).collect();
    let mut clients = JoinSet::new();
    for place in &places {
        let client = Client::new(make(place.clone())).with(patient());
        clients.spawn(async move {
            let (mut failures, mut first) = (Vec::new(), None);
            for _ in 0..(5 + 20 + 10) * 20 {
                match client.call::<method::Echo>(&Text::new("hi")).await {
                    Ok(answer) => assert!(answer.is_ok()),
                    Err(error) => {
                        failures.push(Instant::now());
                        first.get_or_insert(error);
                    }
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            (client, failures, first)
        });
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before: Vec<_> = places.iter().map(|place| place.attempts().len()).collect();
    assert!(before.iter().all(|made| *made == connections), "{before:?}");

    place.servers.lock().unwrap().clear();
    let down = Instant::now();
    server.stopped().await;
    tokio::time::sleep(DOWN).await;
    let mut all = Vec::new();
    for place in &places {
        let attempts = place.attempts()[connections..].to_vec();
        // Waits of 50 ms, doubled up to 5 s, each at least half as long: 15 at most in 20 s, for each connection.
        assert!((5..=15 * connections).contains(&attempts.len()), "{} attempts", attempts.len());
        all.extend(attempts);
    }
    // Late in that time all of them wait, each for a time of its own.
    all.retain(|at| *at >= down + DOWN / 2);
    all.sort_unstable();
    let in_a_moment =
        |at: &Instant| all.iter().filter(|other| **other >= *at && **other < *at + DOWN / 200).count();
    let most = all.iter().map(in_a_moment).max().unwrap_or_default();
    assert!(most < CLIENTS * connections / 4, "{most} attempts within {:?}", DOWN / 200);

    let (wire, server) = serve_probe().await;
    place.servers.lock().unwrap().push(wire);
    let up = Instant::now();
    tokio::time::sleep(LONGEST + Duration::from_secs(1)).await;
    assert_eq!(server.gauges().connections(), CLIENTS * connections);
    while let Some(client) = clients.join_next().await {
        let (client, failures, first) = client.expect("no panic");
        let last = failures.last().expect("some calls fail");
        assert!(
            failures[0] >= down && *last <= up + LONGEST,
            "a call failed {:?} after the restart",
            *last - up
        );
        let first = first.expect("an error");
        if first.transport().map(TransportError::kind) == Some(TransportErrorKind::Connect) {
            assert_eq!((first.sent(), first.stage()), (Sent::No, Some(fails_at)), "{first}");
            assert_eq!((first.code(), first.endpoint()), (Code::Unavailable, Some("the place")), "{first}");
        }
        drop(client);
    }
    assert_eq!(server.gauges().accepted(), CLIENTS * connections, "a connection too many was made");
}

#[test]
fn c095_a_restart_under_many_clients_of_a_mux() {
    let mux =
        |place| transport_mux::lazy(place, framed(), MuxConfig { connections: 2, ..MuxConfig::default() });
    run(Net::Memory, storm(Stage::Connect, mux, 2));
}

#[test]
fn c095_c112_a_name_that_vanishes_under_many_clients_of_a_pool() {
    let pool = |place| transport_pool::lazy(place, framed(), PoolConfig::default());
    run(Net::Memory, storm(Stage::Resolve, pool, 1));
}

/// Takes 5 ms for each call and counts it.
async fn serve_work(executed: &Arc<AtomicUsize>) -> (Wire, Running) {
    let executed = executed.clone();
    let work = service_fn(move |request: Request<Body>| {
        executed.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok::<_, Infallible>(Response { head: ResponseHead::ok(), body: request.body })
        }
    });
    let server = Server::new().accept(framed(), Router::<(Binary,)>::new().fallback(work));
    Wire::to(server, Net::Memory, PipeConfig::default(), []).await
}

/// Two servers are restarted in turn, twenty times, under clients that never pause: each is left out of new connections half a
/// second before it stops. These protocols have no farewell, so calls are on their way to a server while it stops: they are
/// answered with a refusal, which says that they were not executed, or find their connection closed, which is not known to be
/// harmless. No other call fails, none is executed twice, and each restart takes as long as its longest call.
async fn rolling<T: Transport + Speaks<Codec = Binary>>(make: impl Fn(Place) -> T) {
    let executed = Arc::new(AtomicUsize::new(0));
    let place = Place::new(Stage::Connect);
    let mut servers = Vec::new();
    for _ in 0..2 {
        let (wire, server) = serve_work(&executed).await;
        place.servers.lock().unwrap().push(wire);
        servers.push(server);
    }
    let ends = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for _ in 0..5 {
        let client = Client::new(make(place.for_another())).with(patient());
        for phase in 0..5 {
            let (client, ends) = (client.clone(), ends.clone());
            callers.spawn(async move {
                tokio::time::sleep(Duration::from_millis(phase)).await; // so that at each moment some calls are everywhere
                let (mut made, mut refused, mut lost) = (0_usize, 0, 0);
                while !ends.load(Ordering::SeqCst) {
                    made += 1;
                    let head = RequestHead { method: "work".into(), ..RequestHead::default() };
                    match client.call_raw(head, made.to_be_bytes().to_vec().into()).await {
                        Ok(answer) => match answer.head.status {
                            Ok(()) => assert_eq!(answer.body, made.to_be_bytes()[..]),
                            Err(status) => {
                                assert!(status.message().contains("not executed"), "{status}");
                                refused += 1;
                                tokio::time::sleep(Duration::from_millis(1)).await; // or the clock would stand still
                            }
                        },
                        Err(error) => {
                            let kind = error.transport().map(TransportError::kind);
                            let found = (kind, error.sent());
                            assert_eq!(found, (Some(TransportErrorKind::Closed), Sent::Maybe), "{error}");
                            lost += 1;
                        }
                    }
                }
                (made, refused, lost)
            });
        }
    }
    for turn in 0..20 {
        let old = place.servers.lock().unwrap().remove(0);
        tokio::time::sleep(Duration::from_millis(500)).await;
        let start = Instant::now();
        let (wire, server) = serve_work(&executed).await;
        let mut stopping = std::mem::replace(&mut servers[turn % 2], server);
        stopping.stopped().await;
        assert!(start.elapsed() <= Duration::from_millis(10), "a restart took {:?}", start.elapsed());
        drop(old);
        place.servers.lock().unwrap().push(wire);
    }
    ends.store(true, Ordering::SeqCst);
    let (mut made, mut refused, mut lost) = (0, 0, 0);
    while let Some(caller) = callers.join_next().await {
        let counts = caller.expect("no panic");
        made += counts.0;
        refused += counts.1;
        lost += counts.2;
    }
    assert!(made > 25 * 20 * 50, "{made} calls");
    let executed = executed.load(Ordering::SeqCst);
    assert!(
        (made - refused - lost..=made - refused).contains(&executed),
        "{executed} of {made}, {refused} refused"
    );
    // The longest call takes 5 ms, and for so long a server refuses each caller once a millisecond.
    assert!(refused + lost <= 25 * 20 * 6, "{refused} refused, {lost} lost");
}

#[test]
fn c125_a_rolling_restart_under_a_mux() {
    let mux =
        |place| transport_mux::lazy(place, framed(), MuxConfig { connections: 2, ..MuxConfig::default() });
    run(Net::Memory, rolling(mux));
}

#[test]
fn c125_a_rolling_restart_under_a_pool() {
    run(Net::Memory, rolling(|place| transport_pool::lazy(place, framed(), PoolConfig::default())));
}
