use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use pin_project_lite::pin_project;

use super::exchange::Exchange;
use super::options::ReplyMetadata;
use crate::{
    Body, DecodeOutcome, Error, Exceptions, Method, Name, Outcome, Place, RequestHead, Response, Sent, Stage,
    Transport, TransportError, TransportErrorKind,
};

pin_project! {
    /// A call of a method, as [`Client::call`](super::Client::call) makes it. It borrows nothing.
    ///
    /// # Cancel safety
    /// Dropping it gives the call up.
    pub struct Call<M, C, S: Transport> {
        codec: C,
        reply: Option<ReplyMetadata>,
        #[pin]
        step: Step<S>,
        method: std::marker::PhantomData<fn() -> M>,
    }
}

pin_project! {
    #[project = StepProjected]
    enum Step<S: Transport> {
        Failed { error: Option<Error> },
        Sent { #[pin] exchange: Exchange<S> },
    }
}

impl<M: Method, C, S: Transport> Call<M, C, S> {
    pub(super) fn new(codec: C, reply: Option<ReplyMetadata>, exchange: Result<Exchange<S>, Error>) -> Self {
        let step = match exchange {
            Ok(exchange) => Step::Sent { exchange },
            Err(error) => Step::Failed { error: Some(error) },
        };
        Self { codec, reply, step, method: std::marker::PhantomData }
    }
}

impl<M: Method, C: DecodeOutcome<M::Response, M::Exception>, S: Transport> Future for Call<M, C, S> {
    type Output = Result<Outcome<M>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = match this.step.project() {
            StepProjected::Sent { exchange } => ready!(exchange.poll(cx)),
            StepProjected::Failed { error } => match error.take() {
                Some(error) => Err(error),
                None => return Poll::Pending, // polled after its end
            },
        };
        let outcome = response.and_then(|response| {
            if let Some(reply) = this.reply.take() {
                reply.set(response.head.metadata.clone());
            }
            decode::<M, C>(this.codec, response)
        });
        Poll::Ready(outcome.map_err(|error| error.calling(M::SERVICE.into(), M::NAME.into())))
    }
}

impl<M: Method, C, S: Transport> fmt::Debug for Call<M, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({}/{})", M::SERVICE, M::NAME)
    }
}

pin_project! {
    /// A call of encoded bytes, as [`Client::call_raw`](super::Client::call_raw) makes it.
    ///
    /// # Cancel safety
    /// Dropping it gives the call up.
    pub struct CallRaw<S: Transport> {
        service: Name,
        method: Name,
        #[pin]
        exchange: Exchange<S>,
    }
}

impl<S: Transport> CallRaw<S> {
    pub(super) fn new(head: &RequestHead, exchange: Exchange<S>) -> Self {
        Self { service: head.service.clone(), method: head.method.clone(), exchange }
    }
}

impl<S: Transport> Future for CallRaw<S> {
    type Output = Result<Response<Bytes>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.exchange.poll(cx)).and_then(|response| match response.body {
            Body::Once(body) => Ok(Response { head: response.head, body }),
            Body::Stream(_) => Err(streamed()),
        });
        Poll::Ready(result.map_err(|error| error.calling(this.service.clone(), this.method.clone())))
    }
}

impl<S: Transport> fmt::Debug for CallRaw<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallRaw({}/{})", self.service, self.method)
    }
}

fn decode<M: Method, C: DecodeOutcome<M::Response, M::Exception>>(
    codec: &C,
    response: Response<Body>,
) -> Result<Outcome<M>, Error> {
    match (response.head.status, response.body) {
        (Ok(()), Body::Once(bytes)) => Ok(codec.decode_outcome(Place::Result, bytes)?),
        (Ok(()), Body::Stream(_)) => Err(streamed()),
        (Err(status), _) => {
            if C::EXCEPTIONS == Exceptions::InStatus && status.exception_name().is_some() {
                // A peer may know exceptions that this definition does not: then its status is all that is known.
                if let Ok(outcome) = codec.decode_outcome(Place::Exception, status.details().clone()) {
                    return Ok(outcome);
                }
            }
            Err(status.into())
        }
    }
}

#[cold]
fn streamed() -> Error {
    let error = TransportError::new(TransportErrorKind::Protocol, Stage::Receive, Sent::Yes);
    error.because("the answer to a unary call is a stream").into()
}
