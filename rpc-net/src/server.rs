//! Listening, and what becomes of the connections.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use futures::future::Either;
use rpc_core::{
    Body, BoxError, BoxFuture, Executor, Origin, Request, Response, RouteFuture, Router, Routes, Sent, Stage,
    TransportError, TransportErrorKind,
};
use rpc_wire::{Detect, Limits};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::util::BoxCloneSyncService;
use tower::{Layer, ServiceExt};

use crate::io::poll_fill;
use crate::listener::Listener;
use crate::{Accepted, Serve, SocketConfig, Stream, TokioExecutor};

/// What a server allows. All bounds that a peer could push against are here or in [`Limits`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// What each connection allows.
    pub limits: Limits,
    /// How many connections may be open. Further ones wait in the listener's backlog. One that broke counts while its handlers
    /// that answer nothing run. Default: 10,000.
    pub max_connections: usize,
    /// How long a new connection may stay silent, or undecided about its protocol. Default: 10 s. Connections that spoke
    /// may be idle for as long as they like; the kernel's keep-alive finds the dead ones.
    pub first_byte_timeout: Duration,
    /// How many bytes of answers may wait for a peer that does not read, before no more of its requests are taken. Default:
    /// 1 MiB. One answer may be larger, since a started answer is never cut.
    pub write_budget: usize,
    /// How long a message may take from its first byte to its last, and how long a peer may take for 16 KiB of its answers,
    /// or for all that is left of them. A slow peer that sends large messages needs more. Default: 30 s.
    pub stall_timeout: Duration,
    /// How long a stop waits for calls in flight before it cuts them. Default: 10 s.
    pub drain_timeout: Duration,
    /// How sockets are set up.
    pub socket: SocketConfig,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_connections: 10_000,
            first_byte_timeout: Duration::from_secs(10),
            write_budget: 1024 * 1024,
            stall_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
            socket: SocketConfig::default(),
        }
    }
}

/// A server in the making: protocols with their services, layers around them.
///
/// One port serves all its protocols; each connection's is chosen by its first bytes, the first accepted protocol that
/// knows them. Where only one is accepted, nothing is waited for.
#[derive(Debug)]
pub struct Server {
    protocols: Vec<Protocol>,
    layers: Layers,
    config: ServerConfig,
    executor: Arc<dyn ExecutorDebug>,
}

trait ExecutorDebug: Executor + fmt::Debug {}
impl<T: Executor + fmt::Debug> ExecutorDebug for T {}

#[derive(Debug)]
struct Protocol {
    serve: Arc<dyn ServeErased>,
    routes: Routes,
}

impl Server {
    /// A server without protocols.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[track_caller]
    pub fn new() -> Self {
        let executor = Arc::new(TokioExecutor::current());
        Self { protocols: Vec::new(), layers: Layers::default(), config: ServerConfig::default(), executor }
    }

    /// The same with other bounds.
    #[must_use]
    pub fn config(mut self, config: ServerConfig) -> Self {
        self.config = config;
        self
    }

    /// Answers leave in the order of their requests, for clients that ignore ids. Handlers run concurrently all the same.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.config.limits.ordered = true;
        self
    }

    /// Serves these services to connections of this protocol.
    #[must_use]
    pub fn accept<P: Serve>(mut self, protocol: P, services: Router<P::Codecs>) -> Self {
        let routes = services.into_routes(&protocol.codecs(), self.executor.clone());
        self.protocols.push(Protocol { serve: Arc::new(Named(protocol)), routes });
        self
    }

    /// Puts a layer around all services. The last one added sees a request first.
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<Service> + Send + Sync + 'static,
        L::Service: tower::Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as tower::Service<Request<Body>>>::Future: Send + 'static,
    {
        self.layers.0.push(Arc::new(move |inner| {
            Service(Inner::Layered(BoxCloneSyncService::new(layer.layer(inner).map_err(Into::into))))
        }));
        self
    }

    /// Listens at `"host:port"`, where port 0 lets the system choose one, or at `"unix:/path"`.
    ///
    /// # Errors
    /// When that is not possible, and when no protocol was accepted.
    pub async fn listen(self, endpoint: impl AsRef<str>) -> io::Result<Bound> {
        if self.protocols.is_empty() {
            let what = "the server speaks no protocol: call `accept` before `listen`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let endpoint = endpoint.as_ref();
        let listener = Listener::bind(endpoint).await.map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("can not listen at {endpoint:?} (host:port or unix:/path): {error}"),
            )
        })?;
        Ok(Bound { listener: Some(listener), shared: Arc::new(Shared::new(self)) })
    }

    /// A server that listens nowhere: [`Bound::serve_io`] gives it connections, such as pipes in memory.
    pub fn unbound(self) -> Bound {
        Bound { listener: None, shared: Arc::new(Shared::new(self)) }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

type WrapLayer = Arc<dyn Fn(Service) -> Service + Send + Sync>;

#[derive(Default)]
struct Layers(Vec<WrapLayer>);

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} layers", self.0.len())
    }
}

/// A server that can run.
#[derive(Debug)]
pub struct Bound {
    listener: Option<Listener>,
    shared: Arc<Shared>,
}

impl Bound {
    /// The address it listens at, where it is a TCP address.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.as_ref().and_then(Listener::local_addr)
    }

    /// What is going on. The handle outlives the server.
    pub fn gauges(&self) -> ServerGauges {
        ServerGauges(self.shared.clone())
    }

    /// Serves one connection that did not come from a listener, until it ends and its handlers that answer
    /// nothing have. A stop drains and cuts it like any other.
    ///
    /// # Errors
    /// When the connection breaks or the peer breaks the protocol.
    pub fn serve_io<Io>(
        &self,
        io: Io,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + 'static + use<Io>
    where
        Io: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let shared = self.shared.clone();
        let stream = Stream::Other(Box::new(io));
        let tracked = shared.tracker.token(); // from now on, so that a stop waits for it
        async move {
            let result = shared.serve(stream).await;
            drop(tracked);
            result
        }
    }

    /// Serves for as long as the process lives.
    ///
    /// # Errors
    /// None at present: single connections that fail are logged.
    pub async fn serve(self) -> io::Result<()> {
        self.serve_until(std::future::pending::<()>()).await
    }

    /// Serves until `signal` is ready. Then it listens no more, lets calls in flight finish and be answered, and ends each
    /// connection as it falls idle; after [`ServerConfig::drain_timeout`] it cuts what is left.
    ///
    /// # Errors
    /// None at present: single connections that fail are logged.
    pub async fn serve_until(mut self, signal: impl Future) -> io::Result<()> {
        let slots = Arc::new(Semaphore::new(self.shared.config.max_connections.min(Semaphore::MAX_PERMITS)));
        if let Some(listener) = self.listener.take() {
            let accepting = self.accept_all(&listener, &slots);
            tokio::select! {
                () = accepting => {}
                _ = signal => {}
            }
        } else {
            signal.await;
        }
        let connections = &self.shared.tracker;
        self.shared.drain.cancel();
        connections.close();
        if timeout(self.shared.config.drain_timeout, connections.wait()).await.is_err() {
            tracing::info!(connections = connections.len(), "cutting what did not finish in time");
            self.shared.cut.cancel();
            connections.wait().await;
        }
        Ok(())
    }

    async fn accept_all(&self, listener: &Listener, slots: &Arc<Semaphore>) {
        loop {
            // Before accepting, so that those above the cap wait in the backlog.
            let Ok(slot) = slots.clone().acquire_owned().await else { return };
            let stream = listener.accept(&self.shared.config.socket).await;
            let shared = self.shared.clone();
            self.shared.tracker.spawn(async move {
                let peer = stream.peer();
                if let Err(error) = shared.clone().serve(stream).await {
                    shared.report(peer, &error);
                }
                drop(slot);
            });
        }
    }
}

/// What all connections of a server share.
#[derive(Debug)]
struct Shared {
    protocols: Vec<(Arc<dyn ServeErased>, Service)>,
    config: ServerConfig,
    drain: CancellationToken,
    cut: CancellationToken,
    /// What a stop waits for.
    tracker: TaskTracker,
    connections: AtomicUsize,
    accepted: AtomicUsize,
    in_flight: Arc<AtomicUsize>,
    /// Connections that broke the protocol: how many were reported by now.
    reported: AtomicUsize,
}

impl Shared {
    fn new(server: Server) -> Self {
        let wrap =
            |routes| server.layers.0.iter().fold(Service(Inner::Routes(routes)), |inner, wrap| wrap(inner));
        let protocols =
            server.protocols.into_iter().map(|protocol| (protocol.serve, wrap(protocol.routes))).collect();
        Self {
            protocols,
            config: server.config,
            drain: CancellationToken::new(),
            cut: CancellationToken::new(),
            tracker: TaskTracker::new(),
            connections: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            in_flight: Arc::default(),
            reported: AtomicUsize::new(0),
        }
    }

    async fn serve(self: Arc<Self>, mut stream: Stream) -> Result<(), TransportError> {
        let _open = Open::new(&self.connections);
        self.accepted.fetch_add(1, Ordering::Relaxed);
        let mut read = BytesMut::new();
        let Some((serve, service)) = self.choose(&mut stream, &mut read).await? else { return Ok(()) };
        let accepted = Accepted {
            origin: Arc::new(Origin { peer: stream.peer(), protocol: serve.name(), caller: None }),
            io: stream,
            read,
            stop: self.drain.clone(),
            limits: self.config.limits.clone(),
            write_budget: self.config.write_budget,
            stall_timeout: self.config.stall_timeout,
            in_flight: self.in_flight.clone(),
        };
        let serving = serve.serve(accepted, service.clone());
        tokio::select! {
            result = serving => result,
            () = self.cut.cancelled() => Ok(()),
        }
    }

    /// Reads as many bytes as it takes to tell the protocol. `None` when the peer went away without a word, or the server
    /// stops before it spoke.
    async fn choose(
        &self,
        stream: &mut Stream,
        read: &mut BytesMut,
    ) -> Result<Option<&(Arc<dyn ServeErased>, Service)>, TransportError> {
        let refused = |detail: String| {
            TransportError::new(TransportErrorKind::Protocol, Stage::Serve, Sent::No).because(detail)
        };
        let choosing = async {
            loop {
                let count =
                    std::future::poll_fn(|cx| poll_fill(stream, cx, read)).await.map_err(|error| {
                        TransportError::new(TransportErrorKind::Closed, Stage::Serve, Sent::No).because(error)
                    })?;
                let mut undecided = false;
                for protocol in &self.protocols {
                    match protocol.0.detect(read) {
                        Detect::Yes => return Ok(Some(protocol)),
                        Detect::NeedMore => undecided = true,
                        Detect::No => {}
                    }
                }
                match self.protocols.as_slice() {
                    _ if read.is_empty() => return Ok(None),
                    // It will say best what is wrong with these bytes.
                    [only] => return Ok(Some(only)),
                    _ if count == 0 || !undecided => {
                        let first: Vec<_> = read.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                        return Err(refused(format!("no protocol here begins with {}", first.join(" "))));
                    }
                    _ => {}
                }
            }
        };
        tokio::select! {
            chosen = timeout(self.config.first_byte_timeout, choosing) => match chosen {
                Ok(chosen) => chosen,
                Err(_) => Err(refused("no message began within the first-byte timeout".into())),
            },
            () = self.drain.cancelled() => Ok(None),
        }
    }

    /// Says once in a while that peers break the protocol: scanners must not fill the log. Lost peers are no news.
    fn report(&self, peer: Option<SocketAddr>, error: &TransportError) {
        if error.kind() != TransportErrorKind::Protocol {
            tracing::debug!(?peer, %error, "connection lost");
            return;
        }
        let count = self.reported.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(?peer, %error, count, "connection refused or broken off");
        } else {
            tracing::debug!(?peer, %error, "connection refused or broken off");
        }
    }
}

/// Counts a connection for as long as it lives.
struct Open<'a>(&'a AtomicUsize);

impl<'a> Open<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is going on in a server.
#[derive(Clone, Debug)]
pub struct ServerGauges(Arc<Shared>);

impl ServerGauges {
    /// Connections that are open, and those that broke while their handlers that answer nothing still run.
    pub fn connections(&self) -> usize {
        self.0.connections.load(Ordering::Relaxed)
    }

    /// Connections that were accepted since the server began.
    pub fn accepted(&self) -> usize {
        self.0.accepted.load(Ordering::Relaxed)
    }

    /// Calls that are being served and were not answered at once.
    pub fn in_flight(&self) -> usize {
        self.0.in_flight.load(Ordering::Relaxed)
    }

    /// Connections that ended because their peer broke the protocol, or spoke none that is accepted.
    pub fn broken(&self) -> usize {
        self.0.reported.load(Ordering::Relaxed)
    }
}

/// All services of a protocol with the layers around them: what a layer of [`Server::layer`] wraps.
#[derive(Clone, Debug)]
pub struct Service(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Routes(Routes),
    Layered(BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>),
}

impl tower::Service<Request<Body>> for Service {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = ServiceFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.0 {
            Inner::Routes(_) => Poll::Ready(Ok(())),
            Inner::Layered(service) => service.poll_ready(cx),
        }
    }

    fn call(&mut self, request: Request<Body>) -> ServiceFuture {
        match &mut self.0 {
            Inner::Routes(routes) => ServiceFuture(Either::Left(routes.call(request))),
            Inner::Layered(service) => ServiceFuture(Either::Right(service.call(request))),
        }
    }
}

/// The future of [`Service`].
pub struct ServiceFuture(Either<RouteFuture, BoxFuture<Result<Response<Body>, BoxError>>>);

impl Future for ServiceFuture {
    type Output = Result<Response<Body>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Either::Left(future) => Pin::new(future).poll(cx).map_err(|never| match never {}),
            Either::Right(future) => future.as_mut().poll(cx),
        }
    }
}

impl fmt::Debug for ServiceFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceFuture")
    }
}

/// [`Serve`] for the server's own kinds of connection and service: one dynamic call a connection.
trait ServeErased: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn detect(&self, first: &[u8]) -> Detect;
    fn serve(&self, accepted: Accepted<Stream>, service: Service) -> BoxFuture<Result<(), TransportError>>;
}

impl<P: Serve> ServeErased for Named<P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn detect(&self, first: &[u8]) -> Detect {
        self.0.detect(first)
    }

    fn serve(&self, accepted: Accepted<Stream>, service: Service) -> BoxFuture<Result<(), TransportError>> {
        Box::pin(self.0.serve(accepted, service))
    }
}

/// Gives any protocol a `Debug`.
struct Named<P>(P);

impl<P: Serve> fmt::Debug for Named<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}
