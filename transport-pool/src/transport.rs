use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use rpc_core::{Body, CodecSet, Request, Response, Speaks, TransportError};
use rpc_net::{Connect, Dialer};
use rpc_wire::MakeProtocol;
use tower::Service;

use crate::shared::Shared;
use crate::{CallFuture, PoolConfig};

/// Connects to `"host:port"` or `"unix:/path"` with the default configuration. One connection is made now, the others as
/// they are needed.
///
/// # Errors
/// When the first connection can not be made.
///
/// # Panics
/// Outside of a tokio runtime.
pub async fn connect<P: MakeProtocol>(
    endpoint: impl AsRef<str>,
    protocol: P,
) -> Result<Pool<P>, TransportError> {
    connect_with(Dialer::new(endpoint), protocol, PoolConfig::default()).await
}

/// Connects by any means with any configuration.
///
/// # Errors
/// When the first connection can not be made.
///
/// # Panics
/// As [`connect`].
pub async fn connect_with<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: PoolConfig,
) -> Result<Pool<P, C>, TransportError> {
    let pool = lazy(connector, protocol, config);
    let io = pool.shared.connector.connect().await?;
    pool.shared.add(io);
    Ok(pool)
}

/// A transport that makes its connections as they are needed, so that the peer may come up later. Calls on it panic outside
/// of a tokio runtime.
pub fn lazy<P: MakeProtocol, C: Connect>(connector: C, protocol: P, config: PoolConfig) -> Pool<P, C> {
    Pool { shared: Arc::new(Shared::new(connector, protocol, config)) }
}

/// The transport. Clones share its connections, which end when the last clone and the last call are gone.
///
/// A call takes the connection that was used last, a new one if none is idle, or waits for its turn if there are as many as
/// [`PoolConfig::max_connections`]. When the peer can not be reached and there is no connection, calls fail at once with the
/// reason of the last attempt until the back-off allows another.
///
/// A connection is used again only if that is provably safe: its exchange ended whole, nothing is half written, half read
/// or unread, and a look at the socket before the next call finds nothing. So a call that was given up or timed out costs
/// its connection, unless its request wanted no answer and was written.
pub struct Pool<P: MakeProtocol, C: Connect = Dialer> {
    shared: Arc<Shared<P, C>>,
}

impl<P: MakeProtocol, C: Connect> Pool<P, C> {
    /// What is going on now.
    pub fn gauges(&self) -> PoolGauges {
        let counts = self.shared.counts();
        PoolGauges {
            connections: counts.open,
            idle: counts.idle,
            in_use: counts.open - counts.idle,
            dialling: counts.dialling,
            waiting: self.shared.waiting.count(),
        }
    }
}

impl<P: MakeProtocol, C: Connect> Service<Request<Body>> for Pool<P, C> {
    type Response = Response<Body>;
    type Error = TransportError;
    type Future = CallFuture<P, C>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.shared.waiting.poll_ready(cx).map(Ok)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        CallFuture::new(self.shared.clone(), request)
    }
}

impl<P: MakeProtocol, C: Connect> Speaks for Pool<P, C> {
    type Codec = <P::Codecs as CodecSet>::First;

    fn codec(&self) -> Self::Codec {
        self.shared.protocol.codecs().first()
    }
}

impl<P: MakeProtocol, C: Connect> Clone for Pool<P, C> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<P: MakeProtocol, C: Connect> fmt::Debug for Pool<P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("endpoint", self.shared.connector.endpoint())
            .field("protocol", &self.shared.protocol.name())
            .field("gauges", &self.gauges())
            .finish()
    }
}

/// What is going on in a [`Pool`]. When no call is made, everything but `connections` and `idle` is 0, and those are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolGauges {
    /// Connections that are open: those that are idle and those in use.
    pub connections: usize,
    /// Connections that no call uses.
    pub idle: usize,
    /// Connections that are a call's, each with its one exchange.
    pub in_use: usize,
    /// Connections that are being made.
    pub dialling: usize,
    /// Calls that wait for a connection.
    pub waiting: usize,
}
