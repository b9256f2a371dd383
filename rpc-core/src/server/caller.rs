use std::fmt;
use std::task::{Context, Poll};

use tower::util::{BoxCloneSyncService, ServiceExt};

use super::method_table::BoxFuture;
use crate::{Body, BoxError, Request, Response, Transport};

/// Calls the peer of a connection from the side that was called: a [`Transport`] of any type. Handlers get theirs from
/// [`Context::caller`](crate::Context::caller). Clones call over the same connection.
///
/// It does not keep the connection. Once that ended, calls fail: those that had left with
/// [`Sent::Maybe`](crate::Sent::Maybe), others with [`Sent::No`](crate::Sent::No).
///
/// # Example
/// ```
/// # use rpc_core::{Client, Codec, Context, DecodeOutcome, Encode, Method, Never, Status};
/// /// Asks the caller for something before its call is answered.
/// async fn ask<M, C>(cx: &Context, codec: C, question: M::Request) -> Result<M::Response, Status>
/// where
///     M: Method<Exception = Never>,
///     C: Codec + Encode<M::Request> + DecodeOutcome<M::Response, Never>,
/// {
///     let caller = cx.caller().ok_or_else(|| Status::unimplemented("this protocol can not call back"))?;
///     match Client::with_codec(codec, caller).call::<M>(&question).await? {
///         Ok(response) => Ok(response),
///         Err(never) => match never {},
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Caller(BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>);

impl Caller {
    /// Wraps a transport.
    pub fn new<T: Transport>(transport: T) -> Self {
        Self(BoxCloneSyncService::new(transport.map_err(Into::into)))
    }
}

impl tower::Service<Request<Body>> for Caller {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.call(request)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caller")
    }
}
