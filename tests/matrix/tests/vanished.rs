//! Peers that vanish without a word: their sockets stay open, and no segment that is sent to them is acknowledged any more.
#![cfg(target_os = "linux")] // where a socket can be told to drop what comes
#![allow(clippy::unwrap_used)] // all of it is a test

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use codec_thrift::{Binary, framed};
use rpc_core::{Client, Router, Sent, Speaks, Transport, TransportError, TransportErrorKind};
use rpc_net::{Connect, Dialer, Server, ServerConfig, SocketConfig, Stream};
use rpc_test::transport::patient;
use rpc_test::{Answer, Net, PipeConfig, Probe, Running, Text, Wire, golden, method, run, until};
use socket2::{SockFilter, SockRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use transport_mux::MuxConfig;
use transport_pool::PoolConfig;

/// The shortest bounds that sockets know: seconds.
fn quick() -> SocketConfig {
    SocketConfig {
        keep_alive: Duration::from_secs(1),
        user_timeout: Duration::from_secs(1),
        ..SocketConfig::default()
    }
}

/// From now on the kernel drops each segment that comes for this socket, before it acknowledges it.
fn vanish(socket: &TcpStream) {
    let keep_nothing = SockFilter::new(0x06, 0, 0, 0); // return 0 bytes
    SockRef::from(socket).attach_filter(&[keep_nothing]).unwrap();
}

/// Two ways to one peer: the first connection goes one way, all others the other.
#[derive(Clone)]
struct Paths {
    first: Dialer,
    others: Dialer,
    dials: Arc<AtomicUsize>,
}

impl Connect for Paths {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        match self.dials.fetch_add(1, Ordering::SeqCst) {
            0 => self.first.connect().await,
            _ => self.others.connect().await,
        }
    }

    fn endpoint(&self) -> &Arc<str> {
        self.others.endpoint()
    }
}

async fn serve() -> (Probe, Wire, Running) {
    let probe = Probe::new();
    let config = ServerConfig { socket: quick(), ..ServerConfig::default() };
    let server = Server::new().config(config).accept(framed(), Router::new().add(probe.clone()));
    let (wire, server) = Wire::to(server, Net::Tcp, PipeConfig::default(), []).await;
    (probe, wire, server)
}

/// The first peer vanishes while a call waits for its answer: the call fails within the bound, and the next goes another way.
async fn vanishes_under_a_call<T: Transport + Speaks<Codec = Binary>>(make: impl Fn(Paths) -> T) {
    let (paths, hole, _server) = paths().await;
    let client = Client::new(make(paths.clone())).with(patient().retries(0));
    let call = tokio::spawn(client.call::<method::Echo>(&Text::new("hi")));
    let (mut peer, _) = hole.accept().await.unwrap();
    peer.read_exact(&mut [0; 30]).await.unwrap();
    vanish(&peer);
    let error = call.await.expect("no panic").unwrap_err();
    let kind = error.transport().map(TransportError::kind);
    assert_eq!((kind, error.sent()), (Some(TransportErrorKind::Closed), Sent::Maybe), "{error}");
    let next = client.call::<method::Echo>(&Text::new("another way")).await;
    assert_eq!(next.expect("an answer"), Ok(Answer::new("another way")));
    assert_eq!(paths.dials.load(Ordering::SeqCst), 2);
}

/// The first peer vanishes while its connection is idle. `notices` says when the transport has seen it, where it looks without
/// being asked; elsewhere a call that may be repeated finds out and goes another way.
async fn vanishes_while_idle<T: Transport + Speaks<Codec = Binary>>(
    make: impl Fn(Paths) -> T,
    notices: impl Fn(&T) -> bool,
) {
    let (paths, hole, _server) = paths().await;
    let transport = make(paths.clone());
    let client = Client::new(transport.clone()).with(patient().idempotent());
    let call = tokio::spawn(client.call::<method::Echo>(&Text::new("hi")));
    let (mut peer, _) = hole.accept().await.unwrap();
    peer.read_exact(&mut [0; 30]).await.unwrap();
    peer.write_all(&golden::bytes(
        "00 00 00 1a 80 01 00 02 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 00 00 00 00 02 68 69 00",
    ))
    .await
    .unwrap();
    assert_eq!(call.await.expect("no panic").expect("an answer"), Ok(Answer::new("hi")));
    vanish(&peer);
    until("it is noticed", || notices(&transport)).await;
    let next = client.call::<method::Echo>(&Text::new("another way")).await;
    assert_eq!(next.expect("an answer"), Ok(Answer::new("another way")));
    assert_eq!(paths.dials.load(Ordering::SeqCst), 2);
}

async fn paths() -> (Paths, TcpListener, Running) {
    let (_probe, wire, server) = serve().await;
    let hole = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let paths = Paths {
        first: Dialer::new(hole.local_addr().unwrap().to_string()).config(quick()),
        others: Dialer::new(wire.endpoint()).config(quick()),
        dials: Arc::default(),
    };
    (paths, hole, server)
}

fn mux(paths: Paths) -> transport_mux::Mux<codec_thrift::FramedBinary, Paths> {
    transport_mux::lazy(paths, framed(), MuxConfig { connections: 1, ..MuxConfig::default() })
}

fn pool(paths: Paths) -> transport_pool::Pool<codec_thrift::FramedBinary, Paths> {
    transport_pool::lazy(paths, framed(), PoolConfig::default())
}

#[test]
fn c092_a_server_that_vanishes_under_a_call() {
    run(Net::Tcp, async { tokio::join!(vanishes_under_a_call(mux), vanishes_under_a_call(pool)) });
}

#[test]
fn c092_a_server_that_vanishes_from_an_idle_connection() {
    run(Net::Tcp, async {
        tokio::join!(
            vanishes_while_idle(mux, |mux| mux.gauges().connections == 0),
            vanishes_while_idle(pool, |_| true)
        )
    });
}

/// A server drops what belongs to a client that vanished: its connection, and its handlers.
#[test]
fn c092_c103_a_client_that_vanishes() {
    run(Net::Tcp, async {
        let (probe, wire, server) = serve().await;
        let mut clients = Vec::new();
        for method in ["echo", "hold"] {
            let Stream::Tcp(mut raw) = wire.dial().await.unwrap() else { panic!("no TCP") };
            let name = u8::try_from(method.len()).unwrap();
            let call = [
                &[0, 0, 0, 26, 0x80, 1, 0, 1, 0, 0, 0, name][..],
                method.as_bytes(),
                &[0, 0, 0, 1, 0x0b, 0, 1, 0, 0, 0, 2, b'h', b'i', 0],
            ];
            raw.write_all(&call.concat()).await.unwrap();
            clients.push(raw);
        }
        clients[0].read_exact(&mut [0; 30]).await.unwrap();
        until("the other handler runs", || probe.holding() == 1).await;
        clients.iter().for_each(vanish);
        until("its handler is dropped", || probe.dropped() == 1).await;
        until("both are given up", || server.gauges().connections() == 0).await;
        assert_eq!(server.gauges().in_flight(), 0);
    });
}

/// What a socket gets unless it is told otherwise: a vanished peer is noticed within fifteen seconds.
#[test]
fn c092_the_default_bounds() {
    run(Net::Tcp, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dialled = Dialer::new(listener.local_addr().unwrap().to_string()).connect().await.unwrap();
        let Stream::Tcp(socket) = dialled else { panic!("no TCP") };
        let socket = SockRef::from(&socket);
        assert!(socket.keepalive().unwrap() && socket.tcp_nodelay().unwrap());
        let idle = socket.tcp_keepalive_time().unwrap();
        let asking = socket.tcp_keepalive_interval().unwrap() * socket.tcp_keepalive_retries().unwrap();
        let unacknowledged = socket.tcp_user_timeout().unwrap().unwrap();
        assert!(idle + asking.max(unacknowledged) <= Duration::from_secs(15));
    });
}
