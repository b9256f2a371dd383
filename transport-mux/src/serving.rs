use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use rpc_core::{
    Body, Caller, Origin, Request, RequestHead, Response, ResponseHead, Routes, Sent, Stage, TransportError,
    TransportErrorKind,
};
use rpc_net::Handlers;
use rpc_wire::{CallId, OpenError, Protocol};

use crate::connection::{Connection, Seat};

/// What serves the calls that the peer makes on one connection.
pub(crate) struct Serving<P> {
    connection: Arc<Connection<P>>,
    handlers: Handlers<Routes>,
    origin: Arc<Origin>,
}

impl<P: Protocol> Serving<P> {
    pub(crate) fn new(connection: Arc<Connection<P>>, routes: Routes, protocol: &'static str) -> Self {
        let caller = Some(Caller::new(Handle(Arc::downgrade(&connection))));
        let origin = Arc::new(Origin { peer: None, protocol, caller });
        Self { connection, handlers: Handlers::new(routes), origin }
    }

    pub(crate) fn start(&mut self, cx: &mut Context<'_>, id: CallId, mut head: RequestHead, body: Bytes) {
        head.origin = Some(self.origin.clone());
        match self.handlers.start(cx, id, head, body) {
            Some(response) => self.connection.reply(id, response),
            None => self.poll(cx),
        }
    }

    /// Answers the calls whose handlers are ready.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some((id, response))) = self.handlers.poll(cx) {
            self.connection.reply(id, response);
        }
    }

    pub(crate) fn cancel(&mut self, over: &mut Vec<CallId>) {
        self.handlers.cancel(over);
    }

    /// Once the connection ended: lets the handlers finish that answer nothing, and drops the others.
    pub(crate) async fn finish(mut self) {
        self.handlers.keep_oneway();
        while !self.handlers.is_empty() {
            std::future::poll_fn(|cx| self.handlers.poll(cx)).await;
        }
    }
}

/// Calls the peer over one connection: the transport inside the [`Caller`] of handlers that run here. Where there is no room
/// for another call it fails, since one that waited could hold up the answer that makes room.
struct Handle<P>(Weak<Connection<P>>);

impl<P> Clone for Handle<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<P: Protocol> tower::Service<Request<Body>> for Handle<P> {
    type Response = Response<Body>;
    type Error = TransportError;
    type Future = CallBack<P>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> CallBack<P> {
        match self.0.upgrade() {
            Some(connection) => CallBack::New { connection, request: Some(request) },
            None => CallBack::Over,
        }
    }
}

/// A call of a handler here.
enum CallBack<P: Protocol> {
    New { connection: Arc<Connection<P>>, request: Option<Request<Body>> },
    Seated { connection: Arc<Connection<P>>, seat: Seat },
    Over,
}

impl<P: Protocol> Future for CallBack<P> {
    type Output = Result<Response<Body>, TransportError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::New { connection, request } => {
                let connection = connection.clone();
                let Some(Request { head, body }) = request.take() else { return Poll::Pending };
                *self = Self::Over;
                let Some(body) = body.into_once() else {
                    let error = connection.error(TransportErrorKind::Unsupported, Stage::Send, Sent::No);
                    return Poll::Ready(Err(error.because("the protocol has no streams")));
                };
                match connection.open(&head, &body, cx.waker()) {
                    Ok(Some(seat)) => {
                        *self = Self::Seated { connection, seat };
                        Poll::Pending
                    }
                    Ok(None) => Poll::Ready(Ok(Response { head: ResponseHead::ok(), body: Body::empty() })),
                    Err(error) => Poll::Ready(Err(refused(&connection, error))),
                }
            }
            Self::Seated { connection, seat } => {
                let polled = connection.poll_outcome(*seat, cx.waker());
                if polled.is_ready() {
                    *self = Self::Over;
                }
                polled.map_ok(|Response { head, body }| Response { head, body: Body::Once(body) })
            }
            Self::Over => {
                let error = TransportError::new(TransportErrorKind::Closed, Stage::Queue, Sent::No);
                Poll::Ready(Err(error.because("the connection to call back over ended")))
            }
        }
    }
}

impl<P: Protocol> Drop for CallBack<P> {
    fn drop(&mut self) {
        if let Self::Seated { connection, seat } = self {
            connection.abandon(*seat);
        }
    }
}

fn refused<P: Protocol>(connection: &Connection<P>, error: OpenError) -> TransportError {
    let (kind, stage) = match error {
        OpenError::GoingAway => (TransportErrorKind::Closed, Stage::Queue),
        OpenError::Full => (TransportErrorKind::Overloaded, Stage::Queue),
        OpenError::TooLarge { .. } => (TransportErrorKind::TooLarge, Stage::Send),
        _ => (TransportErrorKind::Unsupported, Stage::Send),
    };
    connection.error(kind, stage, Sent::No).because(error)
}
