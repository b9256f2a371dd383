//! Where a handler runs.
//!
//! Polling a handler where its request was cut from the connection is the fastest way by far: no task, no channel, and
//! the answers of a whole chunk leave in one write. But a handler that computes for long would hold up its neighbours on
//! the connection, and one connection would use one core. So a method that proves slow to poll moves off the
//! connection's task, and comes back when it proves quick.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use tokio::sync::oneshot;

use super::context::{Cancellation, Context};
use super::method_table::{BoxFuture, Start, failed};
use crate::{Body, BoxError, RequestHead, Response, Shape, Status};

/// Where the handlers of a service run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dispatch {
    /// On the connection's task while the method is quick to poll, on a task of their own once it proves slow.
    #[default]
    Adaptive,
    /// Always on the connection's task: for handlers that never compute for long. The handlers of one connection then
    /// share one core.
    Inline,
    /// Each on a task of its own. A handler that computes for long holds a worker thread of the runtime all the same.
    Spawn,
    /// Each on a thread for blocking work, so that neither long computing nor blocking calls touch the runtime's
    /// workers. It costs some ten microseconds a call, and a thread while it runs.
    Blocking,
}

/// What runs the handlers that leave their connection's task. The server brings one.
pub trait Executor: Send + Sync + 'static {
    /// Runs a task to its end, concurrently with others.
    fn spawn(&self, task: BoxFuture<()>);

    /// Runs a task to its end on a thread where it may block.
    fn spawn_blocking(&self, task: BoxFuture<()>);
}

/// A method in one codec: its handler, and what is known of how slow it is.
pub(super) struct Route {
    start: Start,
    dispatch: Dispatch,
    pace: Pace,
    /// The method answers nothing.
    silent: bool,
}

impl Route {
    pub(super) fn new(start: Start, shape: Shape, dispatch: Dispatch) -> Self {
        Self { start, dispatch, pace: Pace::default(), silent: shape == Shape::Oneway }
    }

    pub(super) fn call(
        self: &Arc<Self>,
        head: RequestHead,
        body: bytes::Bytes,
        executor: &Arc<dyn Executor>,
    ) -> RouteFuture {
        let place = match self.dispatch {
            Dispatch::Adaptive if self.pace.is_slow() => Dispatch::Spawn,
            other => other,
        };
        if matches!(place, Dispatch::Inline | Dispatch::Adaptive) {
            let handler = (self.start)(Context::new(head, None), body);
            let route = (place == Dispatch::Adaptive).then(|| self.clone());
            return RouteFuture { state: State::Inline { handler, route }, silent: self.silent };
        }
        let cancellation = Arc::new(Cancellation::default());
        let handler = (self.start)(Context::new(head, Some(cancellation.clone())), body);
        let (answer, receiver) = oneshot::channel();
        let task = Box::pin(run_elsewhere(handler, self.clone(), cancellation.clone(), answer));
        if place == Dispatch::Blocking {
            executor.spawn_blocking(task)
        } else {
            executor.spawn(task)
        }
        let state = State::Elsewhere { receiver, _guard: CancelOnDrop(cancellation) };
        RouteFuture { state, silent: self.silent }
    }
}

/// Runs a handler that left its connection's task, until it ends or nobody waits for it.
async fn run_elsewhere(
    handler: BoxFuture<Response<Body>>,
    route: Arc<Route>,
    cancellation: Arc<Cancellation>,
    answer: oneshot::Sender<Response<Body>>,
) {
    let mut handler = handler;
    let guarded = std::future::poll_fn(|cx| {
        let started = Instant::now();
        let polled = poll_guarded(handler.as_mut(), cx);
        if route.dispatch == Dispatch::Adaptive {
            route.pace.polled(started.elapsed());
        }
        polled
    });
    if let Either::Left((response, _)) = select(guarded, pin!(cancellation.wait())).await {
        // An error means that the caller went away just now; the answer has no reader then.
        let _ = answer.send(response);
    }
}

/// The answer of a route in the making. Dropping it drops the handler, wherever it runs.
pub struct RouteFuture {
    state: State,
    /// The method answers nothing.
    silent: bool,
}

enum State {
    Ready(Option<Response<Body>>),
    Inline { handler: BoxFuture<Response<Body>>, route: Option<Arc<Route>> },
    Elsewhere { receiver: oneshot::Receiver<Response<Body>>, _guard: CancelOnDrop },
    Fallback(BoxFuture<Result<Response<Body>, BoxError>>),
}

impl RouteFuture {
    pub(super) fn ready(status: Status) -> Self {
        Self { state: State::Ready(Some(failed(status))), silent: false }
    }

    pub(super) fn fallback(future: BoxFuture<Result<Response<Body>, BoxError>>) -> Self {
        Self { state: State::Fallback(future), silent: false }
    }
}

impl Future for RouteFuture {
    type Output = Result<Response<Body>, std::convert::Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let mut response = match &mut self.state {
            State::Ready(response) => {
                response.take().unwrap_or_else(|| failed(Status::internal("polled after its end")))
            }
            State::Inline { handler, route: None } => ready!(poll_guarded(handler.as_mut(), cx)),
            State::Inline { handler, route: Some(route) } => {
                if route.pace.wants_sample() {
                    let started = Instant::now();
                    let polled = poll_guarded(handler.as_mut(), cx);
                    route.pace.polled(started.elapsed());
                    ready!(polled)
                } else {
                    ready!(poll_guarded(handler.as_mut(), cx))
                }
            }
            State::Elsewhere { receiver, .. } => match ready!(Pin::new(receiver).poll(cx)) {
                Ok(response) => response,
                Err(_) => failed(Status::unavailable("the runtime ended before the handler did")),
            },
            State::Fallback(future) => match ready!(catch(|| future.as_mut().poll(cx))) {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => failed(Status::from(crate::Error::from_service(error))),
                Err(panic) => panicked(&*panic),
            },
        };
        response.head.silent |= self.silent;
        Poll::Ready(Ok(response))
    }
}

impl fmt::Debug for RouteFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Ready(_) => "ready",
            State::Inline { .. } => "inline",
            State::Elsewhere { .. } => "elsewhere",
            State::Fallback(_) => "fallback",
        };
        write!(f, "RouteFuture({state})")
    }
}

/// Tells a handler that runs elsewhere when nobody waits for it any more.
struct CancelOnDrop(Arc<Cancellation>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// What is known of how long a method's polls take.
///
/// `0..LEARNING`: so many polls were timed and were quick; each is timed. `LEARNING..SLOW`: quick; one poll in
/// [`SAMPLE`] is timed. From `SLOW` on: slow, with the count of quick polls since. Threads may overwrite each other's
/// counts; that only shifts when the next sample is taken.
#[derive(Default)]
struct Pace(AtomicU32);

/// A poll that takes longer is slow: it would hold up the other calls of its connection. Moving one off costs a few
/// microseconds, so this is where moving is worth some per cent at most.
const SLOW_POLL: Duration = Duration::from_micros(100);
/// The first polls of a method are all timed, so that a slow method holds a connection up once.
const LEARNING: u32 = 32;
/// Then one in so many, since reading the clock twice costs some 50 ns.
const SAMPLE: u32 = 16;
const SLOW: u32 = 1 << 16;
/// So many quick polls in a row bring a slow method back.
const QUICK_AGAIN: u32 = 64;

impl Pace {
    fn is_slow(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= SLOW
    }

    fn wants_sample(&self) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        if (LEARNING..SLOW).contains(&state) {
            let next = if state + 1 < LEARNING + SAMPLE { state + 1 } else { LEARNING };
            self.0.store(next, Ordering::Relaxed);
            return next == LEARNING;
        }
        true
    }

    fn polled(&self, took: Duration) {
        let state = self.0.load(Ordering::Relaxed);
        let next = match (took >= SLOW_POLL, state) {
            (true, _) => SLOW,
            (false, SLOW..) if state - SLOW + 1 >= QUICK_AGAIN => 0,
            (false, SLOW..) => state + 1,
            (false, _) if state < LEARNING => state + 1,
            (false, _) => state,
        };
        if next != state {
            self.0.store(next, Ordering::Relaxed);
        }
    }
}

/// Polls a handler so that its panic costs this call alone.
fn poll_guarded(
    handler: Pin<&mut (dyn Future<Output = Response<Body>> + Send)>,
    cx: &mut TaskContext<'_>,
) -> Poll<Response<Body>> {
    match ready!(catch(|| handler.poll(cx))) {
        Ok(response) => Poll::Ready(response),
        Err(panic) => Poll::Ready(panicked(&*panic)),
    }
}

fn catch<T>(poll: impl FnOnce() -> Poll<T>) -> Poll<Result<T, Box<dyn Any + Send>>> {
    // The future is never polled again after a panic, so nobody sees its broken state.
    match catch_unwind(AssertUnwindSafe(poll)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}

/// What a caller is told of a panic: that it happened. The text stays in the log.
fn panicked(panic: &(dyn Any + Send)) -> Response<Body> {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("not a text"), "handler panicked");
    failed(Status::internal("the handler panicked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_proves_slow_moves_off_and_comes_back() {
        let pace = Pace::default();
        assert!(pace.wants_sample() && !pace.is_slow());
        pace.polled(SLOW_POLL);
        assert!(pace.is_slow());
        for _ in 1..QUICK_AGAIN {
            pace.polled(Duration::ZERO);
            assert!(pace.is_slow());
        }
        pace.polled(Duration::ZERO);
        assert!(!pace.is_slow());
    }

    #[test]
    fn a_quick_method_is_sampled() {
        let pace = Pace::default();
        for _ in 0..LEARNING {
            assert!(pace.wants_sample());
            pace.polled(Duration::ZERO);
        }
        let samples = (0..SAMPLE * 10).filter(|_| pace.wants_sample()).count();
        assert_eq!(samples, 10);
        pace.polled(SLOW_POLL);
        assert!(pace.is_slow());
    }
}
