//! The ways in which Thrift's messages travel, and our side of each: the server, and the calls that our clients make.

use std::fmt;

use rpc::mux::Mux;
use rpc::pool::Pool;
use rpc::wire::{Buffered, Framed, MakeProtocol};
use rpc::{Codec, DecodeOutcome, Encode, Router, Server, Speaks, Transport, thrift};
use tokio::task::JoinHandle;

use crate::idl::echo::echo_methods::{EchoArgs, EchoException, PingArgs};
use crate::idl::echo::{EchoClient, EchoEchoError, EchoRequest, EchoResponse, EchoServer};
use crate::service::Echoing;

/// What messages are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The strict form of binary.
    Binary,
    /// Binary whose message headers have no version.
    OldBinary,
    /// Compact.
    Compact,
}

/// What is around a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Its length before it.
    Frame,
    /// Nothing.
    Nothing,
}

/// How methods are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// `echo`.
    Plain,
    /// `Echo:echo`, as Apache's multiplexed protocol does.
    Multiplexed,
}

/// One way for messages to travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// What they are written in.
    pub protocol: Protocol,
    /// What is around them.
    pub around: Around,
    /// How they name their methods.
    pub names: Names,
}

impl Way {
    /// Binary and compact, framed and not, with plain names and multiplexed ones.
    pub fn all() -> impl Iterator<Item = Self> {
        let names = [Names::Plain, Names::Multiplexed].into_iter();
        names.flat_map(|names| {
            [Protocol::Binary, Protocol::Compact].into_iter().flat_map(move |protocol| {
                [Around::Frame, Around::Nothing].map(|around| Self { protocol, around, names })
            })
        })
    }

    /// Binary without a version, framed and not.
    pub fn old() -> impl Iterator<Item = Self> {
        [Around::Frame, Around::Nothing].into_iter().map(|around| Self {
            protocol: Protocol::OldBinary,
            around,
            names: Names::Plain,
        })
    }

    /// The words for it in the command lines of the peers' programs: protocol, transport, names.
    pub fn words(self) -> [&'static str; 3] {
        [
            match self.protocol {
                Protocol::Binary => "binary",
                Protocol::OldBinary => "binary-nonstrict",
                Protocol::Compact => "compact",
            },
            match self.around {
                Around::Frame => "framed",
                Around::Nothing => "buffered",
            },
            match self.names {
                Names::Plain => "plain",
                Names::Multiplexed => "multiplexed",
            },
        ]
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [protocol, transport, names] = self.words();
        write!(f, "{protocol}, {transport}")?;
        if self.names == Names::Multiplexed { write!(f, ", {names}") } else { Ok(()) }
    }
}

fn binary_header(way: Way) -> thrift::BinaryHeader {
    match way.protocol {
        Protocol::OldBinary => thrift::BinaryHeader::new().accept_non_strict(),
        _ => thrift::BinaryHeader::new(),
    }
}

/// Our server, until it is dropped.
#[derive(Debug)]
pub struct Ours {
    /// Its port at 127.0.0.1.
    pub port: u16,
    serving: JoinHandle<()>,
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Ours {
    /// Serves every protocol, framed and not, on one port; messages without a version only where that is the way.
    ///
    /// # Panics
    /// When it can not listen.
    pub async fn serve(way: Way) -> Self {
        let header = binary_header(way);
        let binary = || Router::new().add(EchoServer::new(Echoing::default()));
        let compact = || Router::new().add(EchoServer::new(Echoing::default()));
        let server = Server::new()
            .accept(Framed::new(header), binary())
            .accept(Buffered::new(header), binary())
            .accept(thrift::framed_compact(), compact())
            .accept(thrift::buffered_compact(), compact());
        let listening = server.listen("127.0.0.1:0").await.expect("a port");
        let port = listening.local_addr().expect("an address").port();
        let serving = tokio::spawn(async move {
            listening.serve().await.expect("our server serves");
        });
        Self { port, serving }
    }
}

/// What is to be expected of a peer's server.
#[derive(Clone, Debug)]
pub struct Theirs {
    /// What it calls itself.
    pub name: &'static str,
    /// What it is sent.
    pub requests: Vec<(&'static str, EchoRequest)>,
}

/// Makes all calls to a peer's server, over a mux and over a pool.
///
/// # Panics
/// When an answer is another than it should be.
pub async fn call(way: Way, address: &str, theirs: &Theirs) {
    let multiplexed = way.names == Names::Multiplexed;
    match (way.protocol, way.around) {
        (Protocol::Compact, Around::Frame) => {
            let framing = thrift::framed_compact();
            both(address, if multiplexed { framing.multiplexed() } else { framing }, theirs).await;
        }
        (Protocol::Compact, Around::Nothing) => {
            let framing = thrift::buffered_compact();
            both(address, if multiplexed { framing.multiplexed() } else { framing }, theirs).await;
        }
        (_, Around::Frame) => {
            let framing = Framed::new(binary_header(way));
            both(address, if multiplexed { framing.multiplexed() } else { framing }, theirs).await;
        }
        (_, Around::Nothing) => {
            let framing = Buffered::new(binary_header(way));
            both(address, if multiplexed { framing.multiplexed() } else { framing }, theirs).await;
        }
    }
}

async fn both<F: MakeProtocol, C>(address: &str, framing: F, theirs: &Theirs)
where
    Mux<F>: Transport + Speaks<Codec = C>,
    Pool<F>: Transport + Speaks<Codec = C>,
    C: Codec + Encode<EchoArgs> + DecodeOutcome<EchoResponse, EchoException> + Encode<PingArgs>,
{
    call_all(rpc::mux::connect(address, framing.clone()).await.expect("a mux"), theirs).await;
    call_all(rpc::pool::connect(address, framing).await.expect("a pool"), theirs).await;
}

/// Makes all calls with a client of ours.
async fn call_all<S: Transport + Speaks>(transport: S, theirs: &Theirs)
where
    S::Codec: Encode<EchoArgs> + DecodeOutcome<EchoResponse, EchoException> + Encode<PingArgs>,
{
    let client = EchoClient::new(transport);
    let mut pings = 0;
    for (name, request) in &theirs.requests {
        let response = client.echo(request.clone()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(response.request, *request, "{name}");
        assert_eq!(response.server, theirs.name);
        pings = response.pings;
    }
    let failing = EchoRequest { must: "m".into(), fail_code: Some(7), ..EchoRequest::default() };
    match client.echo(failing).await {
        Err(EchoEchoError::EchoError(error)) => {
            assert_eq!((error.code, &*error.message), (7, "asked to fail: m"));
        }
        other => panic!("{other:?}"),
    }
    for i in 0..3 {
        client.ping(format!("note {i}")).await.unwrap_or_else(|error| panic!("ping: {error}"));
    }
    // A server may count on several threads; it has counted by the time that it has answered a few calls more.
    let after = EchoRequest { must: "after".into(), ..EchoRequest::default() };
    let mut counted = pings;
    for _ in 0..1000 {
        let response = client.echo(after.clone()).await.unwrap_or_else(|error| panic!("after: {error}"));
        counted = response.pings;
        if counted == pings + 3 {
            break;
        }
    }
    assert_eq!(counted, pings + 3);
}
