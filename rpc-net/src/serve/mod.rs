//! One connection of a server.
//!
//! - here: [`Serve`], the contract, which every protocol of `rpc-wire` meets.
//! - `connection`: the driver.
//! - `handlers`: the handlers of a connection. `running`: one of them, and what its panic costs.
//! - `calls`: the calls that they make to the peer.
//! - `patience`: how long a peer may take, and when a connection counts as idle.

mod calls;
mod connection;
mod handlers;
mod patience;
mod running;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bytes::BytesMut;
use rpc_core::{Body, BoxError, CodecSet, Origin, Request, Response, TransportError};
use rpc_wire::{Detect, Limits, MakeProtocol};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tower::Service;

use self::calls::Calls;
use self::connection::Connection;
pub use self::handlers::{Handlers, reply};

/// A protocol that can serve a connection. Every [`MakeProtocol`] is one; a protocol with an engine of its own implements it
/// for its own type.
pub trait Serve: Clone + Send + Sync + 'static {
    /// What payloads it carries: `Server::accept` infers from it what a service must be able to speak.
    type Codecs: CodecSet;

    /// The name in traces, and of [`rpc_core::Context::protocol`].
    fn name(&self) -> &'static str;

    /// Whether a connection that begins with these bytes speaks this protocol, told by the fewest bytes that suffice.
    fn detect(&self, first: &[u8]) -> Detect;

    /// The codecs, as the protocol configures them: services are served in these.
    fn codecs(&self) -> Self::Codecs;

    /// Serves one connection until it ends, or until it is drained after [`Accepted::stop`]. Handlers that answer nothing still
    /// run to their end when it breaks, and the future with them: so they count, and a stop waits for them.
    ///
    /// # Errors
    /// When the connection breaks or the peer breaks the protocol. A peer that closes between messages is no error.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection and drops all its handlers.
    fn serve<Io, S>(
        &self,
        accepted: Accepted<Io>,
        service: S,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + use<Self, Io, S>
    where
        Io: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static;
}

/// A connection that was accepted, with what a server knows of it.
#[derive(Debug)]
pub struct Accepted<Io> {
    /// The connection.
    pub io: Io,
    /// What was read from it already.
    pub read: BytesMut,
    /// Where it comes from.
    pub origin: Arc<Origin>,
    /// Cancelled when no new calls are to be taken: those in flight are finished and answered, then the connection ends.
    pub stop: CancellationToken,
    /// What it may do.
    pub limits: Limits,
    /// How many bytes of answers may wait for a peer that does not read, before no more of its requests are taken.
    pub write_budget: usize,
    /// How long a message may take from its first byte to its last, and how long a peer may leave answers unread.
    pub stall_timeout: Duration,
    /// Counts the calls that are being served.
    pub in_flight: Arc<AtomicUsize>,
}

impl<P: MakeProtocol> Serve for P {
    type Codecs = P::Codecs;

    fn name(&self) -> &'static str {
        MakeProtocol::name(self)
    }

    fn detect(&self, first: &[u8]) -> Detect {
        MakeProtocol::detect(self, first)
    }

    fn codecs(&self) -> P::Codecs {
        MakeProtocol::codecs(self)
    }

    fn serve<Io, S>(
        &self,
        accepted: Accepted<Io>,
        service: S,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + use<Io, S, P>
    where
        Io: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        let protocol = self.server(&accepted.limits);
        let symmetric = self.is_symmetric();
        async move {
            let mut accepted = accepted;
            let calls = symmetric.then(|| {
                let (calls, caller) = Calls::new();
                accepted.origin = Arc::new(Origin { caller: Some(caller), ..(*accepted.origin).clone() });
                calls
            });
            let stop = pin!(accepted.stop.clone().cancelled_owned());
            let mut connection = Connection::new(accepted, protocol, service, calls, stop);
            let result = std::future::poll_fn(|cx| connection.poll_drive(cx)).await;
            // Their callers never wait for them, so a connection that breaks after its last request is no reason to stop.
            let (mut oneway, mut in_flight) = connection.into_oneway();
            while !oneway.is_empty() {
                in_flight.set(oneway.len());
                std::future::poll_fn(|cx| oneway.poll(cx)).await;
            }
            result
        }
    }
}
