//! What a system under test has to offer, and the list of all of them.
//!
//! A system is a server and a client of the service in `idl/`. Everything that is timed is generic over
//! [`System`], so that each one gets its own copy of the load generator and no call goes through a pointer; the
//! [`registry`] turns a name into that copy once per process.
//!
//! To add one: a unit type that implements [`System`] in a file of its own under `systems/`, its caller's [`Caller`]
//! (and [`Burn`] if its handlers shall be tested while busy), and a line in the list of [`registry`]. The command
//! line, the plan, `list` and the tables follow from that line.

pub mod registry;

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Any error, for a report.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A system under test.
///
/// Who calls: `bench serve` calls [`start`](Self::start) once in its process, `bench load` calls
/// [`connect`](Self::connect) once in its own, both inside a multi-thread tokio runtime that already has the worker
/// threads and the CPU set of its side.
///
/// Fairness: `TCP_NODELAY` is on at both ends, handlers are those of [`work`](crate::work), the documented fast path
/// is used, and options are the system's defaults unless its name says otherwise.
pub trait System: 'static {
    /// As on the command line and in reports, such as `thrift/mux` or `tonic`.
    const NAME: &'static str;
    /// Whether it is one of our own.
    const OURS: bool = false;
    /// Codec and transport, if `--codec` and `--transport` choose it.
    const PAIR: Option<Pair> = None;
    /// How virtual clients share connections.
    const SHARING: Sharing;
    /// Whether it only shows what the machine can do, and is no rival to be compared with.
    const FLOOR: bool = false;
    /// The running server. Dropping it may end the server; the process ends soon after anyway.
    type Server: Server;
    /// One virtual client's way to call.
    type Caller: Caller;

    /// Version of the implementation, for the report.
    fn version() -> &'static str;

    /// The options in effect, for the report.
    fn describe() -> &'static str;

    /// Binds and starts to serve on tasks of the current runtime; ready for connections when it returns.
    ///
    /// # Errors
    ///
    /// Whatever kept it from listening.
    fn start(config: ServerConfig) -> impl Future<Output = Result<Self::Server, BoxError>> + Send;

    /// Opens the connections and returns `config.callers` callers, ready to call.
    ///
    /// # Errors
    ///
    /// Whatever kept it from connecting.
    fn connect(config: ClientConfig) -> impl Future<Output = Result<Vec<Self::Caller>, BoxError>> + Send;
}

/// A server that runs.
pub trait Server: Send + 'static {
    /// Where it listens, with the port that the kernel chose.
    fn local_addr(&self) -> SocketAddr;

    /// Connections accepted so far.
    fn accepted(&self) -> u64;
}

/// What one virtual client calls with. It has at most one call in flight.
pub trait Caller: Send + 'static {
    /// A reply, kept in whatever form the system delivers it.
    type Reply: Reply;

    /// Sends the request and waits for its reply. Building the system's own request type happens in here, since it
    /// is a cost of the system.
    ///
    /// # Errors
    ///
    /// Anything but a reply. The caller stays in use afterwards.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when the call takes longer than `--timeout`. A later call must not get the answer of
    /// the dropped one.
    fn call(&mut self, request: Echo<'_>) -> impl Future<Output = Result<Self::Reply, BoxError>> + Send;
}

/// A caller that can also ask for CPU time to be burnt, for the comparison of busy handlers.
pub trait Burn: Caller {
    /// Calls `Echo.burn`; the server's handler is [`work::burn`](crate::work::burn).
    ///
    /// # Errors
    ///
    /// Anything but a reply.
    fn burn(&mut self, micros: u32) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// The fields of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo<'a> {
    /// A short word.
    pub action: &'a str,
    /// The body, with the call's id in front.
    pub msg: &'a str,
}

/// The fields of a reply.
pub trait Reply: Send {
    /// The field `action`.
    fn action(&self) -> &[u8];
    /// The field `msg`.
    fn msg(&self) -> &[u8];
}

/// How virtual clients share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// `--connections` connections, many calls on each.
    Shared,
    /// One call at a time on each of `--pool-size` connections.
    Exclusive,
}

/// How a server of ours runs its handlers. Baselines have one way and ignore it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dispatch {
    /// As the system does by itself.
    #[default]
    Adaptive,
    /// Every handler on a thread that may block.
    Blocking,
}

impl Dispatch {
    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Blocking => "blocking",
        }
    }
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Where to listen; port 0 lets the kernel choose.
    pub addr: SocketAddr,
    /// Worker threads of the runtime it runs in.
    pub threads: usize,
    /// Largest body that will come, in bytes. A limit on message size that is below it must be raised.
    pub body: usize,
    /// How handlers run.
    pub dispatch: Dispatch,
}

/// What a client is started with.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The server.
    pub addr: SocketAddr,
    /// Virtual clients, each with one call in flight.
    pub callers: usize,
    /// Connections to open: `--connections` for [`Sharing::Shared`], `--pool-size` for [`Sharing::Exclusive`].
    pub connections: usize,
    /// Worker threads of the runtime it runs in.
    pub threads: usize,
    /// Largest body that will be sent, in bytes.
    pub body: usize,
    /// Limit of a call. The load generator enforces it for every system alike; a system's own deadline, if it has
    /// one that can not be switched off, should be this.
    pub timeout: Duration,
}

/// Codec and transport of a system of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The codec.
    pub codec: Codec,
    /// The transport.
    pub transport: Transport,
}

/// Codecs, in the order of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Protocol Buffers.
    Protobuf,
    /// Thrift, binary protocol.
    Thrift,
    /// MessagePack.
    Msgpack,
}

impl Codec {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Protobuf, Self::Thrift, Self::Msgpack];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Protobuf => "protobuf",
            Self::Thrift => "thrift",
            Self::Msgpack => "msgpack",
        }
    }
}

/// Transports, in the order of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// One call at a time on each of many connections.
    Pool,
    /// Many calls on one connection.
    Mux,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Pool, Self::Mux];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Mux => "mux",
        }
    }
}
