use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use rpc_core::{
    Body, Request, RequestHead, Response, ResponseHead, Sent, Stage, TransportError, TransportErrorKind,
};
use rpc_net::Connect;
use rpc_wire::MakeProtocol;
use tokio::time::Sleep;

use crate::connection::{Connection, Seat};
use crate::slot::{Boarding, Slot};
use crate::transport::Shared;

/// One call on a [`Mux`](crate::Mux).
///
/// # Cancel safety
/// Dropping it frees its place at once; a late answer is dropped when it comes.
pub struct CallFuture<P: MakeProtocol, C: Connect> {
    shared: Arc<Shared<P, C>>,
    /// Which slot it was given.
    slot: usize,
    head: RequestHead,
    body: Option<Bytes>,
    state: State<P::Protocol>,
}

enum State<P> {
    New,
    /// In the queue of the slot. Only here does a call need a timer of its own.
    Queued {
        ticket: u64,
        deadline: Option<Pin<Box<Sleep>>>,
    },
    Seated {
        connection: Arc<Connection<P>>,
        seat: Seat,
    },
    Over,
}

impl<P: MakeProtocol, C: Connect> CallFuture<P, C> {
    /// It keeps the transport alive, which may be dropped as soon as it was called.
    pub(crate) fn new(shared: Arc<Shared<P, C>>, slot: usize, request: Request<Body>) -> Self {
        let Request { head, body } = request;
        Self { shared, slot, head, body: body.into_once(), state: State::New }
    }

    fn slot(&self) -> &Arc<Slot<P, C>> {
        self.shared.slot(self.slot)
    }

    fn fail(&self, kind: TransportErrorKind, stage: Stage) -> TransportError {
        self.slot().error(kind, stage, Sent::No)
    }
}

impl<P: MakeProtocol, C: Connect> Future for CallFuture<P, C> {
    type Output = Result<Response<Body>, TransportError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            if let State::Seated { connection, seat } = &this.state {
                let polled = connection.poll_outcome(*seat, cx.waker());
                if polled.is_ready() {
                    this.state = State::Over;
                }
                return polled.map_ok(|Response { head, body }| Response { head, body: Body::Once(body) });
            }
            let ticket = match &this.state {
                State::Queued { ticket, .. } => Some(*ticket),
                State::New => None,
                _ => return Poll::Ready(Err(this.fail(TransportErrorKind::Cancelled, Stage::Queue))),
            };
            let Some(body) = &this.body else {
                let error = this.fail(TransportErrorKind::Unsupported, Stage::Send);
                return Poll::Ready(Err(error.because("the protocol has no streams")));
            };
            match this.slot().board(&this.head, body, cx.waker(), ticket) {
                Boarding::Seated(connection, Some(seat)) => {
                    this.body = None; // its bytes are copied or shared by now
                    let new = matches!(this.state, State::New);
                    this.state = State::Seated { connection, seat };
                    if new {
                        return Poll::Pending;
                    }
                }
                Boarding::Seated(_, None) => {
                    this.state = State::Over;
                    return Poll::Ready(Ok(Response { head: ResponseHead::ok(), body: Body::empty() }));
                }
                Boarding::Queued(ticket) => {
                    if matches!(this.state, State::New) {
                        let sleep =
                            this.head.deadline.map(|at| Box::pin(tokio::time::sleep_until(at.into())));
                        this.state = State::Queued { ticket, deadline: sleep };
                    }
                    // Looked at last: the call may have been served meanwhile.
                    if let State::Queued { deadline: Some(sleep), .. } = &mut this.state
                        && sleep.as_mut().poll(cx).is_ready()
                    {
                        let late = this.fail(TransportErrorKind::Deadline, Stage::Queue);
                        return Poll::Ready(Err(late));
                    }
                    return Poll::Pending;
                }
                Boarding::Elsewhere => {
                    this.slot = this.shared.open_slot().unwrap_or(this.slot);
                    this.state = State::New;
                }
                Boarding::Failed(error) => {
                    this.state = State::Over;
                    return Poll::Ready(Err(error));
                }
            }
        }
    }
}

impl<P: MakeProtocol, C: Connect> Drop for CallFuture<P, C> {
    fn drop(&mut self) {
        match &self.state {
            State::Queued { ticket, .. } => self.slot().give_up(*ticket),
            State::Seated { connection, seat } => connection.abandon(*seat),
            State::New | State::Over => {}
        }
    }
}

impl<P: MakeProtocol, C: Connect> fmt::Debug for CallFuture<P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("head", &self.head).finish_non_exhaustive()
    }
}
