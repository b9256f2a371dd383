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
use rpc_wire::{CallId, MakeProtocol};
use tokio::time::Sleep;

use crate::connection::Connection;
use crate::slot::{Boarding, Slot};

/// One call on a [`Mux`](crate::Mux).
///
/// # Cancel safety
/// Dropping it frees its place at once; a late answer is dropped when it comes.
pub struct CallFuture<P: MakeProtocol, C: Connect> {
    slot: Arc<Slot<P, C>>,
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
        id: CallId,
    },
    Over,
}

impl<P: MakeProtocol, C: Connect> CallFuture<P, C> {
    pub(crate) fn new(slot: Arc<Slot<P, C>>, request: Request<Body>) -> Self {
        let Request { head, body } = request;
        Self { slot, head, body: body.into_once(), state: State::New }
    }

    fn fail(&self, kind: TransportErrorKind, stage: Stage) -> TransportError {
        self.slot.error(kind, stage, Sent::No)
    }
}

impl<P: MakeProtocol, C: Connect> Future for CallFuture<P, C> {
    type Output = Result<Response<Body>, TransportError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let State::Seated { connection, id } = &this.state {
            let polled = connection.poll_outcome(*id, cx.waker());
            if polled.is_ready() {
                this.state = State::Over;
            }
            return polled.map_ok(|Response { head, body }| Response { head, body: Body::Once(body) });
        }
        if let State::Queued { deadline: Some(sleep), .. } = &mut this.state
            && sleep.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(this.fail(TransportErrorKind::Deadline, Stage::Queue))); // its drop leaves the queue
        }
        loop {
            let ticket = match &this.state {
                State::Queued { ticket, .. } => Some(*ticket),
                State::New => None,
                _ => return Poll::Ready(Err(this.fail(TransportErrorKind::Cancelled, Stage::Queue))),
            };
            let Some(body) = &this.body else {
                let error = this.fail(TransportErrorKind::Unsupported, Stage::Send);
                return Poll::Ready(Err(error.because("the protocol has no streams")));
            };
            match this.slot.board(&this.head, body, cx.waker(), ticket) {
                Boarding::Seated(connection, id) => {
                    this.body = None; // its bytes are copied or shared by now
                    if this.head.wants_answer() {
                        this.state = State::Seated { connection, id };
                        return Poll::Pending;
                    }
                    this.state = State::Over;
                    return Poll::Ready(Ok(Response { head: ResponseHead::ok(), body: Body::empty() }));
                }
                Boarding::Queued(ticket) => {
                    if matches!(this.state, State::New) {
                        let sleep =
                            this.head.deadline.map(|at| Box::pin(tokio::time::sleep_until(at.into())));
                        this.state = State::Queued { ticket, deadline: sleep };
                    }
                    if let State::Queued { deadline: Some(sleep), .. } = &mut this.state
                        && sleep.as_mut().poll(cx).is_ready()
                    {
                        let late = this.fail(TransportErrorKind::Deadline, Stage::Queue);
                        return Poll::Ready(Err(late));
                    }
                    return Poll::Pending;
                }
                Boarding::Elsewhere(slot) => {
                    this.slot = slot;
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
            State::Queued { ticket, .. } => self.slot.give_up_waiting(*ticket),
            State::Seated { connection, id } => connection.abandon(*id),
            State::New | State::Over => {}
        }
    }
}

impl<P: MakeProtocol, C: Connect> fmt::Debug for CallFuture<P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("head", &self.head).finish_non_exhaustive()
    }
}
