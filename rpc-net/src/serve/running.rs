use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use rpc_core::{Body, BoxError, Response, ResponseHead, Status};
use rpc_wire::CallId;

/// A handler that was not ready at its first poll.
pub(super) struct Running<F> {
    pub(super) id: CallId,
    pub(super) oneway: bool,
    slot: Slot<F>,
    waker: Option<Waker>,
}

/// Where a handler is polled. Its memory is used again and again.
pub(super) type Slot<F> = Pin<Box<Option<F>>>;

impl<F> Running<F> {
    pub(super) fn new(id: CallId, oneway: bool, slot: Slot<F>) -> Self {
        Self { id, oneway, slot, waker: None }
    }

    /// Whether it is still to end.
    pub(super) fn is_live(&self) -> bool {
        self.slot.is_some()
    }

    /// Drops the handler.
    pub(super) fn cancel(&mut self) {
        clear(self.slot.as_mut());
        if let Some(waker) = self.waker.take() {
            waker.wake(); // so that its place is given back
        }
    }
}

impl<F> Drop for Running<F> {
    fn drop(&mut self) {
        clear(self.slot.as_mut());
    }
}

impl<F, E> Future for Running<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
    E: Into<BoxError>,
{
    type Output = (CallId, Option<Response<Body>>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.slot.is_none() {
            return Poll::Ready((self.id, None));
        }
        match poll_slot(self.slot.as_mut(), cx) {
            Poll::Ready(response) => Poll::Ready((self.id, Some(response))),
            Poll::Pending => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Polls a call so that a panic in a layer costs that call alone, as one in a handler does.
pub(super) fn poll_slot<F, E>(slot: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<Response<Body>>
where
    F: Future<Output = Result<Response<Body>, E>>,
    E: Into<BoxError>,
{
    let Some(future) = slot.as_pin_mut() else { return Poll::Pending };
    // It is never polled again after a panic, so nobody sees its broken state.
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(polled) => polled.map(|result| result.unwrap_or_else(failed)),
        Err(panic) => Poll::Ready(panicked(&*panic)),
    }
}

/// Drops a call's future, so that a panic in that costs nothing more.
pub(super) fn clear<F>(mut slot: Pin<&mut Option<F>>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| slot.set(None))) {
        log(&*panic);
    }
}

/// What a caller is told of a panic: that it happened. The text stays in the log.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Response<Body> {
    log(panic);
    failed(Status::internal("the server panicked"))
}

fn log(panic: &(dyn Any + Send)) {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("not a text"), "a layer panicked");
}

/// The failure of a service, as a peer is told of it.
pub(super) fn failed(error: impl Into<BoxError>) -> Response<Body> {
    let status = Status::from(rpc_core::Error::from_service(error.into()));
    Response { head: ResponseHead::failed(status), body: Body::empty() }
}
