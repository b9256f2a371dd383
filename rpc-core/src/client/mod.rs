//! The caller's end of the stack.
//!
//! - `options`: what one call may ask for.
//! - `exchange`: one request and its response over a transport, with the deadline and the retry.
//! - `call`: the codec around it.

mod call;
mod exchange;
mod options;

use std::fmt;
use std::future::{self, Future};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::Either;

pub use self::call::{Call, CallRaw};
use self::exchange::{Exchange, Timer};
pub use self::options::{CallOptions, ReplyMetadata};
use crate::encode_buffer::with_buffer;
use crate::{Codec, DecodeOutcome, Encode, Error, Method, RequestHead, Speaks, Transport};

/// Makes calls over a transport in a codec. Generated clients wrap one. Clones are cheap and share the transport.
///
/// It owns the deadline of each call: [`CallOptions::timeout`] from now, [`CallOptions::DEFAULT_TIMEOUT`] unless told
/// otherwise. Waiting, dialling, retries and the peer's work all count against it.
///
/// A request that provably was not sent (its connection turned out to be closed, the peer was shutting down) is sent
/// again, at most [`CallOptions::RETRIES`] times. See [`CallOptions::idempotent`] for more.
///
/// The wrong use next to the right one:
/// ```
/// # use rpc_core::{CallOptions, Client};
/// # use std::time::Duration;
/// # fn example<C: rpc_core::Codec, S: rpc_core::Transport>(client: Client<C, S>) {
/// // Wrong: a client for each call. Over a pool or a mux that is not slow, but its options are soon forgotten.
/// // Right: one client, and a view of it with other options where they differ.
/// let impatient = client.with(CallOptions::new().timeout(Duration::from_millis(50)));
/// # let _ = impatient;
/// # }
/// ```
#[derive(Clone)]
pub struct Client<C, S> {
    codec: C,
    transport: S,
    options: Arc<CallOptions>,
    timer: Timer,
}

impl<C: Codec, S: Transport> Client<C, S> {
    /// A client over a plain transport, in the transport's codec. The transport ends calls at their deadlines.
    pub fn new(transport: S) -> Self
    where
        S: Speaks<Codec = C>,
    {
        Self { codec: transport.codec(), transport, options: Arc::default(), timer: Timer::Transport }
    }

    /// A client over any stack of tower layers. Since a foreign layer may hold a call back for as long as it likes, each
    /// call arms a timer of its own.
    pub fn with_codec(codec: C, stack: S) -> Self {
        Self { codec, transport: stack, options: Arc::default(), timer: Timer::Own }
    }

    /// The same client with other options for the calls that are made through it.
    #[must_use]
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Arc::new(options), ..self.clone() }
    }

    /// Calls a method. The request is encoded before this returns, so the future borrows nothing and can be spawned.
    ///
    /// # Errors
    /// The outer error says that no response of the method came: see [`Error::code`], [`Error::sent`]. The inner one is an
    /// exception that the method declares.
    ///
    /// # Cancel safety
    /// Dropping the future gives the call up, as [`Transport`] says.
    pub fn call<M: Method>(&self, request: &M::Request) -> Call<M, C, S>
    where
        C: Encode<M::Request> + DecodeOutcome<M::Response, M::Exception>,
    {
        Call::new(self.codec.clone(), self.options.reply_slot().cloned(), self.encode::<M>(request))
    }

    /// Sends a oneway request. `Ok` means that its bytes were handed to a connection, no more.
    ///
    /// # Errors
    /// When the request could not be handed to a connection.
    pub fn send<M: Method>(
        &self,
        request: &M::Request,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static + use<M, C, S>
    where
        C: Encode<M::Request>,
    {
        match self.encode::<M>(request) {
            Ok(exchange) => Either::Left(async move {
                let response =
                    exchange.await.map_err(|error| error.calling(M::SERVICE.into(), M::NAME.into()))?;
                response
                    .head
                    .status
                    .map_err(|status| Error::from(status).calling(M::SERVICE.into(), M::NAME.into()))
            }),
            Err(error) => Either::Right(future::ready(Err(error))),
        }
    }

    /// Sends bytes that are encoded already and returns the answer's bytes, whatever its status: for proxies.
    ///
    /// # Errors
    /// When no whole answer came.
    pub fn call_raw(&self, head: RequestHead, body: Bytes) -> CallRaw<S> {
        let names = head.clone();
        CallRaw::new(&names, self.exchange(head, body))
    }

    /// The codec.
    pub fn codec(&self) -> &C {
        &self.codec
    }

    /// The transport, or the stack over it.
    pub fn transport(&self) -> &S {
        &self.transport
    }

    /// The options of calls made through this client.
    pub fn options(&self) -> &CallOptions {
        &self.options
    }

    fn encode<M: Method>(&self, request: &M::Request) -> Result<Exchange<S>, Error>
    where
        C: Encode<M::Request>,
    {
        match with_buffer(|dst| self.codec.encode(M::REQUEST, request, dst)) {
            Ok(body) => Ok(self.exchange(RequestHead::of::<M>(), body)),
            Err(error) => Err(Error::from(error).calling(M::SERVICE.into(), M::NAME.into())),
        }
    }

    fn exchange(&self, head: RequestHead, body: Bytes) -> Exchange<S> {
        Exchange::new(self.transport.clone(), head, body, self.timer, self.options.clone())
    }
}

impl<C: fmt::Debug, S> fmt::Debug for Client<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("codec", &self.codec)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
