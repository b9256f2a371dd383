use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use super::context::{Context, Finished};
use crate::encode_buffer::with_buffer;
use crate::{
    Body, Codec, Decode, EncodeOutcome, Exceptions, Method, Place, Request, RequestHead, Response,
    ResponseHead, Shape, Status,
};

/// A boxed future that can move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A service implementation that can be called in a codec: generated code implements it for every codec that the
/// service's types allow. Clones share the implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a service that can be called in `{C}`",
    note = "add the generated server, `GreeterServer::new(implementation)`; \
            services of `.thrift` go over Thrift and MessagePack, those of `.proto` over Protobuf and MessagePack"
)]
pub trait NamedService<C: Codec>: Clone + Send + Sync + 'static {
    /// The service's full name.
    const NAME: &'static str;

    /// Puts a handler for each method into the table.
    fn register(&self, table: &mut MethodTable<C>);
}

/// Starts a handler; the future decodes, runs and encodes, so that all three happen where the handler is run.
pub(crate) type Start = Box<dyn Fn(Context, Bytes) -> BoxFuture<Response<Body>> + Send + Sync>;

/// The methods of one service in one codec, while they are registered.
pub struct MethodTable<C> {
    codec: C,
    pub(crate) methods: Vec<(&'static str, Shape, Start)>,
}

impl<C: Codec> MethodTable<C> {
    pub(crate) fn new(codec: C) -> Self {
        Self { codec, methods: Vec::new() }
    }

    /// Adds a method with one request and one response, or with none ([`Shape::Oneway`]).
    pub fn unary<M, F, R>(&mut self, handler: F)
    where
        M: Method,
        C: Decode<M::Request> + EncodeOutcome<M::Response, M::Exception>,
        F: Fn(Context, M::Request) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Finished<M>> + Send + 'static,
    {
        let codec = self.codec.clone();
        let start: Start = Box::new(move |context, body| {
            let (codec, handler) = (codec.clone(), handler.clone());
            Box::pin(async move {
                let request = match codec.decode(M::REQUEST, body) {
                    Ok(request) => request,
                    Err(error) => return failed(Status::invalid_argument(error.to_string())),
                };
                let finished = handler(context, request).await;
                encode::<M, C>(&codec, finished)
            })
        });
        self.methods.push((M::NAME, M::SHAPE, start));
    }
}

impl<C> fmt::Debug for MethodTable<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.methods.iter().map(|(name, ..)| name)).finish()
    }
}

/// Takes a request apart for [`Start`]; `None` for a stream.
pub(crate) fn unary_parts(request: Request<Body>) -> Option<(RequestHead, Bytes)> {
    let Request { head, body } = request;
    body.into_once().map(|body| (head, body))
}

pub(crate) fn failed(status: Status) -> Response<Body> {
    Response { head: ResponseHead::failed(status), body: Body::empty() }
}

fn encode<M, C>(codec: &C, finished: Finished<M>) -> Response<Body>
where
    M: Method,
    C: EncodeOutcome<M::Response, M::Exception>,
{
    let Finished { outcome, metadata } = finished;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(status) => {
            return Response {
                head: ResponseHead { status: Err(status), metadata, silent: false },
                body: Body::empty(),
            };
        }
    };
    let in_status = C::EXCEPTIONS == Exceptions::InStatus && outcome.is_err();
    let place = if in_status { Place::Exception } else { Place::Result };
    let (status, body) = match with_buffer(|dst| codec.encode_outcome(place, &outcome, dst)) {
        Ok(bytes) if in_status => (Err(Status::exception(M::NAME, bytes)), Bytes::new()),
        Ok(bytes) => (Ok(()), bytes),
        Err(error) => (Err(Status::internal(format!("the handler's answer: {error}"))), Bytes::new()),
    };
    Response { head: ResponseHead { status, metadata, silent: false }, body: Body::Once(body) }
}
