//! A network in memory, and peers that do what a test says. The clock is paused: time passes only when all wait for it.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use codec_thrift::FramedBinary;
use rpc_core::{
    Body, Name, Request, RequestHead, Response, Sent, Shape, Stage, TransportError, TransportErrorKind,
};
use rpc_net::Connect;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tower::Service;
use transport_pool::{CallFuture, Pool, PoolConfig, PoolGauges, lazy};

pub type TestPool = Pool<FramedBinary, Net>;
pub type TestCall = CallFuture<FramedBinary, Net>;
pub type Answer = Result<Bytes, TransportError>;

/// What becomes of attempts to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dials {
    Succeed,
    AreRefused,
    /// Nothing is heard of them until this changes.
    Hang,
}

/// How bytes move.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// What fits in between.
    pub capacity: usize,
    /// The client's side moves one byte at a time and pauses before each.
    pub drips: bool,
}

impl Default for Wire {
    fn default() -> Self {
        Self { capacity: 64 * 1024, drips: false }
    }
}

/// Dials peers that the test holds.
#[derive(Clone)]
pub struct Net {
    endpoint: Arc<str>,
    wire: Wire,
    dials: watch::Receiver<Dials>,
    attempts: Arc<AtomicUsize>,
    peers: mpsc::UnboundedSender<Peer>,
}

/// The other end of the network.
pub struct Host {
    dials: watch::Sender<Dials>,
    attempts: Arc<AtomicUsize>,
    peers: mpsc::UnboundedReceiver<Peer>,
}

pub fn net(wire: Wire) -> (Net, Host) {
    let (dials, watched) = watch::channel(Dials::Succeed);
    let (sender, peers) = mpsc::unbounded_channel();
    let attempts = Arc::<AtomicUsize>::default();
    let net =
        Net { endpoint: "memory:1".into(), wire, dials: watched, attempts: attempts.clone(), peers: sender };
    (net, Host { dials, attempts, peers })
}

/// A pool over a plain network, which nothing was dialled for yet.
pub fn pool(config: PoolConfig) -> (TestPool, Host) {
    let (net, host) = net(Wire::default());
    (lazy(net, codec_thrift::framed(), config), host)
}

impl Connect for Net {
    type Io = Io;

    async fn connect(&self) -> Result<Io, TransportError> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let mut dials = self.dials.clone();
        let dials = dials.wait_for(|dials| *dials != Dials::Hang).await.map(|dials| *dials);
        if !matches!(dials, Ok(Dials::Succeed)) {
            let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused");
            return Err(TransportError::new(TransportErrorKind::Connect, Stage::Connect, Sent::No)
                .at(self.endpoint.clone())
                .because(refused));
        }
        let (near, far) = duplex(self.wire.capacity);
        let reset = Arc::<AtomicBool>::default();
        let _ = self.peers.send(Peer { io: far, reset: reset.clone() });
        Ok(Io { io: near, reset, drips: self.wire.drips, paused: [false; 2] })
    }

    fn endpoint(&self) -> &Arc<str> {
        &self.endpoint
    }
}

impl Host {
    pub fn dials(&self, dials: Dials) {
        self.dials.send_replace(dials);
    }

    /// How often was dialled.
    pub fn attempts(&self) -> usize {
        self.attempts.load(Ordering::Relaxed)
    }

    /// The next connection.
    pub async fn accept(&mut self) -> Peer {
        self.peers.recv().await.expect("the pool is there")
    }

    /// Whether there is a connection that was not accepted.
    pub fn has_more(&mut self) -> bool {
        !self.peers.is_empty()
    }
}

/// The client's end of a connection.
pub struct Io {
    io: DuplexStream,
    reset: Arc<AtomicBool>,
    drips: bool,
    /// Whether the last attempt to read, and the last to write, was a pause.
    paused: [bool; 2],
}

impl Io {
    /// Every second time there is a pause.
    fn pauses(&mut self, writing: bool, cx: &mut Context<'_>) -> bool {
        let paused = &mut self.paused[usize::from(writing)];
        *paused = self.drips && !*paused;
        if *paused {
            cx.waker().wake_by_ref();
        }
        *paused
    }

    fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Relaxed)
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.pauses(false, cx) {
            return Poll::Pending;
        }
        let room = if self.drips { buf.remaining().min(1) } else { buf.remaining() };
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(room));
        let polled = Pin::new(&mut self.io).poll_read(cx, &mut part);
        let count = part.filled().len();
        if count == 0 && polled.is_ready() && self.is_reset() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        buf.advance(count);
        polled
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.pauses(true, cx) {
            return Poll::Pending;
        }
        if self.is_reset() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let end = if self.drips { bytes.len().min(1) } else { bytes.len() };
        Pin::new(&mut self.io).poll_write(cx, &bytes[..end])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// The peer's end of a connection.
#[derive(Debug)]
pub struct Peer {
    io: DuplexStream,
    reset: Arc<AtomicBool>,
}

/// A request as it stood on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub kind: u8,
    pub name: Vec<u8>,
    pub id: u32,
    pub body: Vec<u8>,
}

impl Peer {
    /// The next request; `None` when the connection was closed, in the middle of one or before it.
    pub async fn request(&mut self) -> Option<Received> {
        let frame = self.frame().await?;
        let (version, rest) = frame.split_first_chunk::<4>().unwrap();
        assert_eq!(version[..3], [0x80, 1, 0], "in step");
        let (len, rest) = rest.split_first_chunk::<4>().unwrap();
        let (name, rest) = rest.split_at(usize::try_from(u32::from_be_bytes(*len)).unwrap());
        let (id, body) = rest.split_first_chunk::<4>().unwrap();
        Some(Received {
            kind: version[3],
            name: name.to_vec(),
            id: u32::from_be_bytes(*id),
            body: body.to_vec(),
        })
    }

    /// What stands behind the next length; `None` when the connection was closed before its end.
    pub async fn frame(&mut self) -> Option<Vec<u8>> {
        let len = usize::try_from(self.io.read_u32().await.ok()?).unwrap();
        let mut frame = vec![0; len];
        self.io.read_exact(&mut frame).await.ok()?;
        Some(frame)
    }

    /// Answers a request with its own body.
    pub async fn echo(&mut self, to: &Received) {
        self.write(&reply(&to.name, to.id, &to.body)).await;
    }

    /// Writes bytes.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.io.write_all(bytes).await.unwrap();
    }

    /// Writes bytes; says whether the client took them all.
    pub async fn try_write(&mut self, bytes: &[u8]) -> bool {
        self.io.write_all(bytes).await.is_ok()
    }

    /// Echoes until the connection is closed. Returns the bodies of the requests.
    pub async fn serve(mut self) -> Vec<Vec<u8>> {
        let mut bodies = Vec::new();
        while let Some(request) = self.request().await {
            let answer = reply(&request.name, request.id, &request.body);
            bodies.push(request.body);
            if self.io.write_all(&answer).await.is_err() {
                break; // whoever asked is gone
            }
        }
        bodies
    }

    /// Ready when the client closed the connection, and had sent nothing before.
    pub async fn closed(&mut self) {
        assert_eq!(self.io.read(&mut [0; 64]).await.unwrap(), 0);
    }

    /// Whether the client closed the connection already.
    pub async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        let mut read = pin!(self.io.read(&mut byte));
        matches!(poll_once(&mut read).await, Poll::Ready(Ok(0) | Err(_)))
    }

    /// Breaks the connection, as a reset does.
    pub fn reset(self) {
        self.reset.store(true, Ordering::Relaxed);
    }
}

/// The bytes of a reply.
pub fn reply(name: &[u8], id: u32, body: &[u8]) -> Vec<u8> {
    let mut message = vec![0x80, 1, 0, 2];
    message.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    message.extend(name);
    message.extend(id.to_be_bytes());
    message.extend(body);
    let mut frame = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    frame.extend(message);
    frame
}

/// Calls `echo` with bytes. Nothing happens before it is polled.
pub fn start(pool: &TestPool, body: impl Into<Bytes>, deadline: Option<Duration>) -> TestCall {
    let deadline = deadline.map(|timeout| (Instant::now() + timeout).into_std());
    let head = RequestHead { method: Name::from_static("echo"), deadline, ..RequestHead::default() };
    pool.clone().call(Request { head, body: Body::Once(body.into()) })
}

/// Sends a request that wants no answer.
pub fn start_oneway(pool: &TestPool, body: impl Into<Bytes>, deadline: Option<Duration>) -> TestCall {
    let deadline = deadline.map(|timeout| (Instant::now() + timeout).into_std());
    let shape = Shape::Oneway;
    let head = RequestHead { method: Name::from_static("note"), shape, deadline, ..RequestHead::default() };
    pool.clone().call(Request { head, body: Body::Once(body.into()) })
}

pub async fn call(pool: &TestPool, body: &'static str) -> Answer {
    bytes(start(pool, body, None).await)
}

pub fn bytes(result: Result<Response<Body>, TransportError>) -> Answer {
    result.map(|response| response.body.into_once().expect("not a stream"))
}

/// The kind, the stage and the fate of the request.
pub fn facts(error: &TransportError) -> (TransportErrorKind, Stage, Sent) {
    assert_eq!(error.endpoint().map(|endpoint| &**endpoint), Some("memory:1"));
    (error.kind(), error.stage(), error.sent())
}

/// Polls a future once.
pub async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// Lets all other tasks run until they wait.
pub async fn settle() {
    tokio::time::sleep(Duration::from_nanos(1)).await; // a paused clock moves when nothing can run
}

/// Serves all connections by echoing; what it yields grows by the bodies of each that ended.
pub fn serve_all(mut host: Host) -> Arc<Mutex<VecDeque<Vec<u8>>>> {
    let bodies = Arc::<Mutex<VecDeque<Vec<u8>>>>::default();
    let seen = bodies.clone();
    tokio::spawn(async move {
        while let Some(peer) = host.peers.recv().await {
            let seen = seen.clone();
            tokio::spawn(async move {
                let served = peer.serve().await;
                seen.lock().unwrap().extend(served);
            });
        }
    });
    bodies
}

pub fn gauges(connections: usize, idle: usize) -> PoolGauges {
    PoolGauges { connections, idle, in_use: connections - idle, ..PoolGauges::default() }
}
