//! Kitex, in every way that it has for calls: a Go program that `tests/peers/install` makes, with the handlers of metadata that
//! Kitex's users install for TTHeader.
//!
//! Where the two differ in what they may do, not in what is right:
//!
//! - Kitex ends the connection after an answer to an unknown method, ours goes on.
//! - Kitex's clients send Protobuf behind a TTHeader alone: what makes them speak frames is a middleware of ours.
//! - Its server of the way `mux` speaks nothing but TTHeader; all others take every way, message by message.
//!
//! What 0.16.1 does wrong, also with itself:
//!
//! - Its Protobuf reads no entry of a map whose key or value is left out for being the default, as `prost` leaves it out, and
//!   writes no member of a `oneof` that is 0.
//! - Its mux client panics over the packet by which a server says that it goes, and so closes the connection under its calls.
//! - Its mux server stops to write once it has sent that packet, whatever it was asked before the client heard.

mod calls;
mod stop;

use std::sync::Arc;

use rpc::net::{Connect, Dialer, Stream};
use rpc::{Router, Server, TransportError, protobuf, thrift};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::hop::Hopping;
use crate::idl::hop::HopServer;
use crate::idl::hop_pb;
use crate::matrix::{Cell, Row};
use crate::program::{Missing, command, made};

const PEER: &str = "Kitex (Go)";

/// What its server calls itself.
const NAME: &str = "kitex";

/// Why it is not sent some values of Protobuf.
const DEFAULTS: &str = "it leaves them out of oneofs, and reads no map without them";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    Thrift,
    Protobuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// Nothing.
    Buffered,
    Framed,
    /// A TTHeader, and the bare message behind it.
    TtHeader,
    TtHeaderFramed,
    /// The same as `TtHeaderFramed`, many at once on a connection.
    Mux,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    codec: Codec,
    around: Around,
}

impl Way {
    fn all() -> impl Iterator<Item = Self> {
        let around =
            [Around::Buffered, Around::Framed, Around::TtHeader, Around::TtHeaderFramed, Around::Mux];
        let codecs = [Codec::Thrift, Codec::Protobuf].into_iter();
        codecs.flat_map(move |codec| around.map(|around| Self { codec, around }))
    }

    /// The words for it in the command line of its program.
    fn words(self) -> [&'static str; 2] {
        [
            match self.codec {
                Codec::Thrift => "thrift",
                Codec::Protobuf => "protobuf",
            },
            match self.around {
                Around::Buffered => "buffered",
                Around::Framed => "framed",
                Around::TtHeader => "ttheader",
                Around::TtHeaderFramed => "ttheader-framed",
                Around::Mux => "mux",
            },
        ]
    }

    /// Whether there is a header, for all that a message has no place for.
    fn carries(self) -> bool {
        !matches!(self.around, Around::Buffered | Around::Framed)
    }

    /// Whether no call fails when a server stops. Kitex's mux does not bear it; see above.
    fn bears_stops(self) -> bool {
        self.carries() && self.around != Around::Mux
    }

    fn not_applicable(self) -> Option<&'static str> {
        let bare = matches!(self.around, Around::Buffered | Around::TtHeader);
        (self.codec == Codec::Protobuf && bare)
            .then_some("Kitex's Protobuf always stands in a frame; wire/thrift.md §10")
    }

    fn cell(self, check: impl Future<Output = Result<(), Missing>> + Send + 'static) -> Cell {
        self.not_applicable().map_or_else(|| Cell::check(check), Cell::NotApplicable)
    }
}

pub(super) fn rows() -> Vec<Row> {
    let calls = Way::all().map(|way| Row {
        peer: PEER,
        way: way.words().join(", "),
        calls_us: way.cell(calls::it_calls_us(way)),
        is_called: way.cell(calls::we_call_it(way)),
    });
    let stops = Way::all().map(|way| Row {
        peer: PEER,
        way: format!("{}, graceful stop under load", way.words().join(", ")),
        calls_us: way.cell(stop::ours_stops(way)),
        is_called: way.cell(stop::it_stops(way)),
    });
    let defaults = [Around::Framed, Around::TtHeaderFramed, Around::Mux].map(|around| Row {
        peer: PEER,
        way: format!(
            "{}: defaults in maps and oneofs",
            Way { codec: Codec::Protobuf, around }.words().join(", ")
        ),
        calls_us: Cell::NotApplicable(DEFAULTS),
        is_called: Cell::NotApplicable(DEFAULTS),
    });
    calls.chain(defaults).chain(stops).collect()
}

/// Its program, with the words for what it does and for the way.
fn program(does: &'static str, way: Way, addresses: &[&str]) -> Result<Command, Missing> {
    let words = [does].into_iter().chain(way.words()).chain(addresses.iter().copied());
    Ok(command(&made("kitex/peer")?, words))
}

/// Our server, until it is told to stop or dropped.
struct Ours {
    address: String,
    accepted: Box<dyn Fn() -> usize + Send + Sync>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl Ours {
    /// Serves what stands in the way's codec in every framing.
    async fn serve(way: Way) -> Self {
        let server = match way.codec {
            Codec::Thrift => {
                Server::new().accept(thrift::family(), Router::new().add(HopServer::new(Hopping::default())))
            }
            Codec::Protobuf => {
                let services = Arc::new(Hopping::default());
                let services = || Router::new().add(hop_pb::HopServer::from_arc(services.clone()));
                Server::new()
                    .accept(protobuf::kitex_ttheader(), services())
                    .accept(protobuf::kitex_framed(), services())
            }
        };
        let listening = server.listen("127.0.0.1:0").await.expect("a port");
        let address = listening.local_addr().expect("an address").to_string();
        let gauges = listening.gauges();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            listening.serve_until(stopped).await.expect("our server serves");
        });
        Self { address, accepted: Box::new(move || gauges.accepted()), stop: Some(stop), serving }
    }

    /// Stops gracefully; returns when all connections have ended.
    async fn stop(mut self) {
        self.stop.take().expect("it runs").send(()).expect("it runs");
        (&mut self.serving).await.expect("our server stops");
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Dials one address after the other, until one listens.
#[derive(Clone)]
struct FirstThatListens(Arc<[Dialer]>);

impl FirstThatListens {
    fn of(addresses: &[String]) -> Self {
        Self(addresses.iter().map(Dialer::new).collect())
    }
}

impl Connect for FirstThatListens {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        let mut last = None;
        for dialer in &*self.0 {
            match dialer.connect().await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("there is an address"))
    }

    fn endpoint(&self) -> &Arc<str> {
        self.0.first().expect("there is an address").endpoint()
    }
}

/// Calls `$run` with a client over each of our transports, in the framing of a way.
macro_rules! with_clients {
    ($way:expr, $connector:expr, $run:ident($($more:expr),*)) => {{
        use $crate::idl::{hop, hop_pb};
        use $crate::peers::kitex::{Around, Codec};
        use ::rpc::{mux, pool, protobuf, thrift, wire};
        let bare = || wire::TtHeaderConfig { payload: wire::Payload::Bare, ..wire::TtHeaderConfig::default() };
        match ($way.codec, $way.around) {
            (Codec::Thrift, Around::Buffered) => {
                with_clients!(@ hop, thrift::buffered(), $connector, $run($($more),*))
            }
            (Codec::Thrift, Around::Framed) => {
                with_clients!(@ hop, thrift::framed(), $connector, $run($($more),*))
            }
            (Codec::Thrift, Around::TtHeader) => {
                with_clients!(@ hop, thrift::ttheader().with(bare()), $connector, $run($($more),*))
            }
            (Codec::Thrift, Around::TtHeaderFramed | Around::Mux) => {
                with_clients!(@ hop, thrift::ttheader(), $connector, $run($($more),*))
            }
            (Codec::Protobuf, Around::Buffered | Around::Framed) => {
                with_clients!(@ hop_pb, protobuf::kitex_framed(), $connector, $run($($more),*))
            }
            (Codec::Protobuf, _) => {
                with_clients!(@ hop_pb, protobuf::kitex_ttheader(), $connector, $run($($more),*))
            }
        }
    }};
    (@ $schema:ident, $framing:expr, $connector:expr, $run:ident($($more:expr),*)) => {{
        let mux = mux::connect_with($connector, $framing, mux::MuxConfig::default()).await.expect("a mux");
        $run($schema::HopClient::new(mux), $($more),*).await;
        let pool = pool::connect_with($connector, $framing, pool::PoolConfig::default()).await.expect("a pool");
        $run($schema::HopClient::new(pool), $($more),*).await;
    }};
}
use with_clients;
