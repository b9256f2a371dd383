//! The contract between the layers and the bytes below them.

use tower::Service;

use crate::{Body, BoxError, Codec, Request, Response};

/// Something that takes a request to one peer and brings the response: a pool, a multiplexed connection, or a stack of
/// tower layers over one. It is a name for a [`tower::Service`] and is implemented for every one that fits.
///
/// Who calls: [`Client`](crate::Client), and layers.
///
/// - `poll_ready` is pending only while more calls wait than the transport's cap allows. Waiting for a connection, a
///   slot or a dial happens inside `call`, first come first served, and ends at the request's deadline: a clone's
///   readiness reserves nothing.
/// - `call` sends the request. `Ok` is a whole answer of the peer, whatever its status. A oneway request is answered
///   with an empty success as soon as its bytes are handed to the connection.
///
/// # Errors
/// A [`TransportError`](crate::TransportError) when no whole answer came. It is found again by downcast through any
/// number of layers; any other error is read as [`Sent::Maybe`](crate::Sent::Maybe).
///
/// # Cancel safety
/// Dropping the future gives the call up: its slot is free at once, the peer is told where the protocol has a word for
/// it, and nothing of its answer can surface in another call.
///
/// # Example
/// ```
/// use rpc_core::{Body, BoxError, Request, Response, ResponseHead, Transport};
///
/// fn is_transport<T: Transport>(t: T) -> T { t }
/// let echo = is_transport(tower::service_fn(|request: Request<Body>| async move {
///     Ok::<_, BoxError>(Response { head: ResponseHead::ok(), body: request.body })
/// }));
/// # let _ = echo;
/// ```
pub trait Transport:
    Clone
    + Send
    + Sync
    + 'static
    + Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send + 'static>
{
}

impl<T> Transport for T where
    T: Clone
        + Send
        + Sync
        + 'static
        + Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send + 'static>
{
}

/// A transport that knows which codec its protocol carries, so that `GreeterClient::new(transport)` needs to be told
/// nothing. It also promises to end every call at its deadline by itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which codec it carries",
    note = "over a stack of tower layers, name the codec: `GreeterClient::with_codec(thrift::Binary, stack)`"
)]
pub trait Speaks {
    /// The codec.
    type Codec: Codec;

    /// The codec, as the protocol is configured.
    fn codec(&self) -> Self::Codec;
}
