use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::{FuturesUnordered, Stream as _};
use rpc_core::{Body, BoxError, Request, RequestHead, Response, ResponseHead, Status};
use rpc_wire::{CallError, CallId, More, Protocol, Reason};
use tower::Service;

use super::running::{Running, Slot, clear, failed, panicked, poll_slot};

/// The handlers of one connection. Each is polled once where its request was cut; only one that was not ready is kept. A panic
/// costs one call.
///
/// Who calls: drivers of connections whose peer calls. They hand [`start`](Self::start) each request, and [`reply`] what it and
/// [`poll`](Self::poll) return.
pub struct Handlers<S: Service<Request<Body>>> {
    service: S,
    /// Requests that wait for the service to be ready.
    held: VecDeque<(CallId, RequestHead, Bytes)>,
    /// Where the next handler is polled; its memory is used again and again.
    slot: Option<Slot<S::Future>>,
    running: FuturesUnordered<Running<S::Future>>,
}

impl<S> Handlers<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>,
{
    /// Those of a new connection.
    pub fn new(service: S) -> Self {
        Self { service, held: VecDeque::new(), slot: None, running: FuturesUnordered::new() }
    }

    /// Starts a handler and polls it once. Returns its answer if that is ready; else it runs, and has to be polled, or waits
    /// until the service is ready.
    pub fn start(
        &mut self,
        cx: &mut Context<'_>,
        id: CallId,
        head: RequestHead,
        body: Bytes,
    ) -> Option<Response<Body>> {
        if !self.held.is_empty() {
            self.held.push_back((id, head, body));
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| self.service.poll_ready(cx))) {
            Ok(Poll::Ready(Ok(()))) => {}
            Ok(Poll::Ready(Err(error))) => return Some(failed(error)),
            Err(panic) => return Some(panicked(&*panic)),
            Ok(Poll::Pending) => {
                self.held.push_front((id, head, body));
                return None;
            }
        }
        let oneway = !head.wants_answer();
        let request = Request { head, body: Body::Once(body) };
        let future = match catch_unwind(AssertUnwindSafe(|| self.service.call(request))) {
            Ok(future) => future,
            Err(panic) => return Some(panicked(&*panic)),
        };
        let mut slot = self.slot.take().unwrap_or_else(|| Box::pin(None));
        slot.as_mut().set(Some(future));
        match poll_slot(slot.as_mut(), cx) {
            Poll::Ready(response) => {
                clear(slot.as_mut());
                self.slot = Some(slot);
                Some(response)
            }
            Poll::Pending => {
                // It has to be polled once more where it goes, to be woken there.
                self.running.push(Running::new(id, oneway, slot));
                None
            }
        }
    }

    /// Starts the next request that waits for the service to be ready, as [`start`](Self::start) does. `None` when none waits, or
    /// the service is still not ready.
    pub(super) fn resume(&mut self, cx: &mut Context<'_>) -> Option<(CallId, Option<Response<Body>>)> {
        let (id, head, body) = self.held.pop_front()?;
        let behind = std::mem::take(&mut self.held);
        let response = self.start(cx, id, head, body);
        let waits_again = !self.held.is_empty();
        self.held.extend(behind);
        (!waits_again).then_some((id, response))
    }

    /// The next answer that became ready. `Ready(None)` when no handler runs.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<(CallId, Response<Body>)>> {
        loop {
            match Pin::new(&mut self.running).poll_next(cx) {
                Poll::Ready(Some((id, Some(response)))) => return Poll::Ready(Some((id, response))),
                Poll::Ready(Some((_, None))) => {} // it was cancelled
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Drops the handlers whose calls are over, all in one pass, since time may be up for many at once.
    pub fn cancel(&mut self, over: &mut Vec<CallId>) {
        if over.is_empty() {
            return;
        }
        over.sort_unstable();
        for call in self.running.iter_mut() {
            if call.is_live() && over.binary_search(&call.id).is_ok() {
                call.cancel();
            }
        }
        over.clear();
    }

    /// Drops the handlers that answer something; returns their calls.
    pub(super) fn cancel_answering(&mut self) -> Vec<CallId> {
        let mut cancelled = Vec::new();
        self.held.retain(|(id, head, _)| {
            if head.wants_answer() {
                cancelled.push(*id);
            }
            !head.wants_answer()
        });
        for call in self.running.iter_mut().filter(|call| !call.oneway && call.is_live()) {
            call.cancel();
            cancelled.push(call.id);
        }
        cancelled
    }

    /// The connection ended: those that answer nothing finish their work, all others are dropped.
    pub fn keep_oneway(&mut self) {
        self.held.clear();
        let running = std::mem::take(&mut self.running).into_iter();
        self.running = running.filter(|call| call.oneway && call.is_live()).collect();
    }

    /// Whether no request waits for the service to be ready.
    pub(super) fn is_ready(&self) -> bool {
        self.held.is_empty()
    }

    /// How many handlers run.
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Gives up memory that would only make the next requests quicker.
    pub(super) fn release_memory(&mut self) {
        self.slot = None;
    }
}

/// Answers a call of the peer. An answer that can not be sent becomes a failure that says so.
pub fn reply(protocol: &mut impl Protocol, id: CallId, response: Response<Body>) {
    let Response { head, body } = response;
    let result = match &body {
        Body::Once(bytes) => protocol.reply(id, &head, bytes, More::Done),
        Body::Stream(_) => Err(CallError::Unsupported("this protocol can not answer with a stream".into())),
    };
    let status = match result {
        // An answer to a call that was broken off meanwhile concerns nobody.
        Ok(()) | Err(CallError::Unknown) => return,
        Err(error @ CallError::TooLarge { .. }) => Status::resource_exhausted(format!("the answer: {error}")),
        Err(error) => Status::internal(format!("the answer: {error}")),
    };
    if protocol.reply(id, &ResponseHead::failed(status), &Bytes::new(), More::Done).is_err() {
        protocol.reset(id, Reason::Cancel);
    }
}

impl<S: Service<Request<Body>>> fmt::Debug for Handlers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("running", &self.running.len())
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}
