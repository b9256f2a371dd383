use std::future::Future;
use std::sync::Arc;

use rpc_core::TransportError;
use tokio::io::{AsyncRead, AsyncWrite};

/// Dials one endpoint. Transports hold one and dial with it whenever they need a connection.
pub trait Connect: Clone + Send + Sync + 'static {
    /// A connection.
    type Io: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Dials once.
    ///
    /// # Errors
    /// At [`Stage::Resolve`](rpc_core::Stage::Resolve) or [`Stage::Connect`](rpc_core::Stage::Connect), always
    /// [`Sent::No`](rpc_core::Sent::No), with the endpoint and the cause.
    ///
    /// # Cancel safety
    /// Dropping the future gives the attempt up.
    fn connect(&self) -> impl Future<Output = Result<Self::Io, TransportError>> + Send;

    /// The endpoint as people write it, for errors and traces.
    fn endpoint(&self) -> &Arc<str>;
}
