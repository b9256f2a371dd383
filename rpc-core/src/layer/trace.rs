use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::time::Instant;
use tower::{Layer, Service};
use tracing::{Span, field};

use crate::{Body, BoxError, Code, Error, Request, Response};

/// Opens a span for each call and closes it with its outcome: one beginning, one end, whatever happens. It writes no line of
/// its own: a subscriber that prints spans when they close shows the calls.
///
/// The span is at debug level, named `call`, with the fields `service`, `method`, `request_bytes`, and at its end
/// `code` (`ok`, or the name of the failure's [`Code`]), `response_bytes` and `elapsed_us`. The fields hold names and sizes,
/// never payloads.
///
/// A call that is dropped before its end has the code `dropped`, or `deadline_exceeded` if its deadline had passed by then: at
/// their deadline, clients drop what is below them, and servers their handlers.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceLayer;

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Trace<S> {
        Trace { inner }
    }
}

/// The service of [`TraceLayer`].
#[derive(Clone, Debug)]
pub struct Trace<S> {
    inner: S,
}

impl<S> Service<Request<Body>> for Trace<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = TraceFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let span = tracing::debug_span!(
            "call",
            service = %request.head.service,
            method = %request.head.method,
            request_bytes = request.body.len_hint(),
            code = field::Empty,
            response_bytes = field::Empty,
            elapsed_us = field::Empty,
        );
        let record = (!span.is_disabled()).then(|| Record {
            span: span.clone(),
            started: Instant::now(),
            deadline: request.head.deadline.map(Instant::from),
            ended: false,
        });
        let future = span.in_scope(|| self.inner.call(request));
        TraceFuture { future: Box::pin(future), record }
    }
}

/// The future of [`Trace`].
#[derive(Debug)]
pub struct TraceFuture<F> {
    future: Pin<Box<F>>,
    record: Option<Record>,
}

impl<F, E> Future for TraceFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Body>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let entered = this.record.as_ref().map(|record| record.span.enter());
        let result = ready!(this.future.as_mut().poll(cx)).map_err(Into::into);
        drop(entered);
        if let Some(record) = &mut this.record {
            match &result {
                Ok(response) => {
                    record.span.record("response_bytes", response.body.len_hint());
                    record.end(
                        response.head.status.as_ref().map_or_else(|status| status.code().name(), |()| "ok"),
                    );
                }
                Err(error) => record.end(Error::code_of(error).name()),
            }
        }
        Poll::Ready(result)
    }
}

#[derive(Debug)]
struct Record {
    span: Span,
    started: Instant,
    deadline: Option<Instant>,
    ended: bool,
}

impl Record {
    fn end(&mut self, code: &str) {
        self.ended = true;
        self.span.record("code", code);
        self.span.record("elapsed_us", u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.ended {
            let late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
            self.end(if late { Code::DeadlineExceeded.name() } else { "dropped" });
        }
    }
}
