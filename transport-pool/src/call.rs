use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use rpc_core::{Body, Request, RequestHead, Response, Stage, TransportError, TransportErrorKind};
use rpc_net::{Connect, DialFailure};
use rpc_wire::{MakeProtocol, OpenError};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::shared::{Pooled, Shared};
use crate::shelf::Taken;

/// One call on a [`Pool`](crate::Pool).
///
/// # Cancel safety
/// Dropping it frees its place at once. A connection on which its answer may still come is closed.
pub struct CallFuture<P: MakeProtocol, C: Connect> {
    pool: Arc<Shared<P, C>>,
    head: RequestHead,
    body: Option<Bytes>,
    state: State<P, C>,
}

enum State<P: MakeProtocol, C: Connect> {
    New,
    /// In the queue. Only here does a call need a timer of its own.
    Queued {
        ticket: u64,
        deadline: Option<Pin<Box<Sleep>>>,
    },
    /// Its exchange is under way.
    Active(Pooled<P, C>),
    Over,
}

impl<P: MakeProtocol, C: Connect> CallFuture<P, C> {
    pub(crate) fn new(pool: Arc<Shared<P, C>>, request: Request<Body>) -> Self {
        let Request { head, body } = request;
        Self { pool, head, body: body.into_once(), state: State::New }
    }

    /// Begins the exchange, once there is a connection.
    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let Some(body) = self.body.take() else {
            let error = self.pool.error(TransportErrorKind::Unsupported, Stage::Send);
            return Poll::Ready(Err(error.because("the protocol has no streams")));
        };
        loop {
            let mut connection = match self.poll_connection(cx) {
                Poll::Ready(result) => result?,
                Poll::Pending => {
                    self.body = Some(body);
                    return Poll::Pending;
                }
            };
            let started = connection.start(&self.head, &body);
            self.state = State::Active(connection);
            let kind = match &started {
                Ok(()) => return Poll::Ready(Ok(())), // the body's bytes are copied or shared by now
                Err(OpenError::GoingAway) => {
                    self.end(); // closes it: the next one
                    self.state = State::New;
                    continue;
                }
                Err(OpenError::Full) => TransportErrorKind::Overloaded,
                Err(OpenError::TooLarge { .. }) => TransportErrorKind::TooLarge,
                Err(_) => TransportErrorKind::Unsupported,
            };
            let error = self.pool.error(kind, Stage::Send);
            return Poll::Ready(started.map_err(|cause| error.because(cause)));
        }
    }

    /// Takes a connection, or waits for one.
    fn poll_connection(&mut self, cx: &mut Context<'_>) -> Poll<Result<Pooled<P, C>, TransportError>> {
        let now = Instant::now().into_std();
        if self.head.deadline.is_some_and(|deadline| deadline <= now) {
            return Poll::Ready(Err(self.late()));
        }
        let ticket = match &self.state {
            State::Queued { ticket, .. } => Some(*ticket),
            _ => None,
        };
        match self.pool.take(ticket, now, cx) {
            Taken::Connection(connection) => {
                self.end();
                Poll::Ready(Ok(connection))
            }
            Taken::Unreachable(failure) => {
                self.end();
                let error = self.pool.error(failure.kind(), failure.stage());
                Poll::Ready(Err(error.because(DialFailure::new(failure))))
            }
            Taken::Queued(ticket) => {
                if !matches!(self.state, State::Queued { .. }) {
                    self.pool.waiting.enter();
                    let deadline = self.head.deadline.map(|at| Box::pin(sleep_until(at.into())));
                    self.state = State::Queued { ticket, deadline };
                }
                if let State::Queued { deadline: Some(sleep), .. } = &mut self.state {
                    ready!(sleep.as_mut().poll(cx));
                    return Poll::Ready(Err(self.late()));
                }
                Poll::Pending
            }
        }
    }

    /// The time was up before there was a connection.
    #[cold]
    fn late(&self) -> TransportError {
        let counts = self.pool.counts();
        let stage = if counts.open == 0 && counts.dialling > 0 { Stage::Connect } else { Stage::Queue };
        self.pool.error(TransportErrorKind::Deadline, stage)
    }

    /// Gives up what it holds: a place in the queue, or a connection.
    fn end(&mut self) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Queued { ticket, .. } => {
                self.pool.give_up_waiting(ticket);
                self.pool.waiting.leave();
            }
            State::Active(connection) => self.pool.put_back(connection),
            State::New | State::Over => {}
        }
    }
}

impl<P: MakeProtocol, C: Connect> Future for CallFuture<P, C> {
    type Output = Result<Response<Body>, TransportError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if matches!(this.state, State::New | State::Queued { .. })
            && let Err(error) = ready!(this.poll_start(cx))
        {
            this.end();
            return Poll::Ready(Err(error));
        }
        let State::Active(connection) = &mut this.state else {
            return Poll::Ready(Err(this.pool.error(TransportErrorKind::Cancelled, Stage::Queue)));
        };
        let outcome = ready!(connection.poll_exchange(cx));
        this.end();
        Poll::Ready(match outcome {
            Ok(Response { head, body }) => Ok(Response { head, body: Body::Once(body) }),
            Err(error) => Err(error.at(this.pool.connector.endpoint().clone())),
        })
    }
}

impl<P: MakeProtocol, C: Connect> Drop for CallFuture<P, C> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<P: MakeProtocol, C: Connect> fmt::Debug for CallFuture<P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("head", &self.head).finish_non_exhaustive()
    }
}
