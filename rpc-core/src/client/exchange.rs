use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use super::options::CallOptions;
use crate::{
    Body, Error, Request, RequestHead, Response, Sent, Stage, Transport, TransportError, TransportErrorKind,
};

/// Who ends a call at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The transport, in the one timer that each of its connections has.
    Transport,
    /// The call itself.
    Own,
}

pin_project! {
    /// One request on its way to its response: sent until it is answered, may not be sent again, or its time is up. It is a
    /// future of its own rather than an `async` block, since those keep each value once for every step that it passes through.
    pub(super) struct Exchange<S: Transport> {
        transport: S,
        head: RequestHead,
        body: Bytes,
        options: Arc<CallOptions>,
        sent_again: u32,
        // What is known of the attempts that failed: an error says the worst of all.
        sent_before: Sent,
        // Its time was up before it was begun, as with a handler that goes on after its caller's deadline.
        late: bool,
        timer: Option<Pin<Box<Sleep>>>,
        // Until the next attempt to reach a peer that is waited for.
        pause: Option<Pin<Box<Sleep>>>,
        #[pin]
        attempt: Option<S::Future>,
    }
}

impl<S: Transport> Exchange<S> {
    pub(super) fn new(
        transport: S,
        mut head: RequestHead,
        body: Bytes,
        timer: Timer,
        options: Arc<CallOptions>,
    ) -> Self {
        let now = Instant::now().into_std();
        let ends = options.deadline_from(now);
        head.deadline = match (head.deadline, ends) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let late = head.deadline.is_some_and(|deadline| deadline <= now);
        if !options.pairs().is_empty() {
            head.metadata.extend(options.pairs().clone());
        }
        let timer = head.deadline.filter(|_| timer == Timer::Own);
        let timer = timer.map(|at| Box::pin(tokio::time::sleep_until(at.into())));
        Self {
            transport,
            head,
            body,
            options,
            sent_again: 0,
            sent_before: Sent::No,
            late,
            timer,
            pause: None,
            attempt: None,
        }
    }
}

impl<S: Transport> Future for Exchange<S> {
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if *this.late {
            return Poll::Ready(Err(TransportError::deadline(Stage::Queue, Sent::No).into()));
        }
        loop {
            if let Some(timer) = this.timer
                && timer.as_mut().poll(cx).is_ready()
            {
                let sent = if this.attempt.is_some() { Sent::Maybe } else { Sent::No };
                let stage = if this.attempt.is_some() { Stage::Receive } else { Stage::Queue };
                let error = Error::from(TransportError::deadline(stage, sent));
                return Poll::Ready(Err(error.after_attempts(*this.sent_again + 1, *this.sent_before)));
            }
            if let Some(pause) = this.pause {
                ready!(pause.as_mut().poll(cx));
                *this.pause = None;
            }
            let result = match this.attempt.as_mut().as_pin_mut() {
                Some(attempt) => ready!(attempt.poll(cx)),
                None => match this.transport.poll_ready(cx) {
                    Poll::Pending => {
                        // The transport ends the calls that it has; this one it does not have yet.
                        if let (None, Some(at)) = (&this.timer, this.head.deadline) {
                            *this.timer = Some(Box::pin(tokio::time::sleep_until(at.into())));
                            continue;
                        }
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(())) => {
                        let request =
                            Request { head: this.head.clone(), body: Body::Once(this.body.clone()) };
                        this.attempt.set(Some(this.transport.call(request)));
                        continue;
                    }
                    Poll::Ready(Err(error)) => Err(error),
                },
            };
            let error = match result {
                Ok(response) => return Poll::Ready(Ok(response)),
                Err(error) => Error::from_service(error.into()),
            };
            let unreachable =
                error.transport().is_some_and(|error| error.kind() == TransportErrorKind::Connect);
            if unreachable
                && this.options.waits_for_ready()
                && error.sent() == Sent::No
                && !expired(this.head)
            {
                this.attempt.set(None);
                let now = Instant::now();
                let next = this
                    .head
                    .deadline
                    .map_or(now + READY_PAUSE, |at| Instant::from(at).min(now + READY_PAUSE));
                *this.pause = Some(Box::pin(tokio::time::sleep_until(next)));
                continue;
            }
            let sent = error.sent();
            if *this.sent_again >= this.options.max_retries() || !may_retry(this.head, this.options, &error) {
                return Poll::Ready(Err(error.after_attempts(*this.sent_again + 1, *this.sent_before)));
            }
            *this.sent_before = sent.max(*this.sent_before);
            *this.sent_again += 1;
            this.attempt.set(None);
        }
    }
}

/// Only a connection that went away is worth another try at once: it stood in a pool or is one of several. A peer that can
/// not be reached is reported, and a call's own faults stay what they are.
fn may_retry(head: &RequestHead, options: &CallOptions, error: &Error) -> bool {
    let gone = error.transport().is_some_and(|error| {
        matches!(error.kind(), TransportErrorKind::Closed | TransportErrorKind::ShuttingDown)
    });
    let allowed = error.sent() == Sent::No || options.is_idempotent();
    gone && allowed && !expired(head)
}

fn expired(head: &RequestHead) -> bool {
    head.deadline.is_some_and(|deadline| deadline <= Instant::now().into_std())
}

/// Between looks at a peer that is waited for. The transport's back-off decides when it is really dialled.
const READY_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
