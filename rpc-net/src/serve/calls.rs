use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::task::AtomicWaker;
use rpc_core::{
    Body, Caller, Request, RequestHead, Response, ResponseHead, Sent, Stage, TransportError,
    TransportErrorKind,
};
use rpc_wire::{CallId, More, OpenError, Protocol, Reason};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;

/// The calls that a connection's handlers make to its peer, as the driver sees them.
///
/// ```text
///  Handle ──► queue ──► waiting ──► open ──► answer
///             (bounded)  (finds no room)     reset · the connection ends: an error
/// ```
/// A call that is dropped says only that there is one such: the driver finds it by a scan.
pub(super) struct Calls {
    queue: mpsc::Receiver<Queued>,
    /// The first of the queue, for which there was no room.
    waiting: Option<Queued>,
    open: HashMap<CallId, oneshot::Sender<Outcome>>,
    given_up: Arc<GivenUp>,
}

/// How many calls the driver has not seen yet. Callers beyond it wait for their turn, each in its own future.
const QUEUE: usize = 64;

type Outcome = Result<Response<Body>, TransportError>;

struct Queued {
    head: RequestHead,
    body: Bytes,
    answer: oneshot::Sender<Outcome>,
}

#[derive(Default)]
struct GivenUp {
    set: AtomicBool,
    driver: AtomicWaker,
}

impl Calls {
    /// Those of a new connection, and what makes them.
    pub(super) fn new() -> (Self, Caller) {
        let (sender, queue) = mpsc::channel(QUEUE);
        let given_up = Arc::new(GivenUp::default());
        let caller = Caller::new(Handle { queue: sender, given_up: given_up.clone() });
        (Self { queue, waiting: None, open: HashMap::new(), given_up }, caller)
    }

    /// How many wait for their answers.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Puts calls on the connection, or refuses them where it takes none any more, and forgets those that were given up.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, protocol: &mut impl Protocol, refuse: bool) {
        self.given_up.driver.register(cx.waker());
        if self.given_up.set.swap(false, Ordering::AcqRel) {
            self.open.retain(|id, answer| {
                let given_up = answer.is_closed();
                if given_up {
                    protocol.reset(*id, Reason::Cancel);
                }
                !given_up
            });
        }
        loop {
            let next =
                self.waiting.take().map_or_else(|| self.queue.poll_recv(cx), |one| Poll::Ready(Some(one)));
            let Poll::Ready(Some(queued)) = next else { return };
            if queued.answer.is_closed() {
                continue;
            }
            if refuse {
                queued.fail(error(TransportErrorKind::ShuttingDown, Stage::Queue, Sent::No));
                continue;
            }
            if protocol.wants_time() {
                protocol.set_time(super::patience::now());
            }
            match protocol.open(&queued.head, &queued.body, More::Done) {
                Ok(id) if queued.head.wants_answer() => {
                    self.open.insert(id, queued.answer);
                }
                Ok(_) => {
                    let done = Response { head: ResponseHead::ok(), body: Body::empty() };
                    let _ = queued.answer.send(Ok(done)); // its caller may be gone, as below
                }
                Err(OpenError::Full) => {
                    self.waiting = Some(queued);
                    return;
                }
                Err(fault) => queued.fail(unfit(fault)),
            }
        }
    }

    /// Takes an answer of the peer.
    pub(super) fn answer(&mut self, id: CallId, head: ResponseHead, body: Bytes) {
        if let Some(answer) = self.open.remove(&id) {
            let _ = answer.send(Ok(Response { head, body: Body::Once(body) }));
        }
    }

    /// Ends a call that gets no answer. Says whether it is one of these.
    pub(super) fn reset(&mut self, id: CallId, reason: Reason) -> bool {
        let Some(answer) = self.open.remove(&id) else { return false };
        let kind = match reason {
            Reason::Deadline => TransportErrorKind::Deadline,
            Reason::Protocol => TransportErrorKind::Protocol,
            Reason::Cancel | Reason::Refused => TransportErrorKind::Cancelled,
        };
        let _ = answer.send(Err(error(kind, Stage::Receive, Sent::Maybe)));
        true
    }

    /// The peer answers no more: all calls end, and no more are taken.
    pub(super) fn close(&mut self, mut each: impl FnMut(CallId)) {
        self.queue.close();
        for (id, answer) in self.open.drain() {
            each(id);
            let _ = answer.send(Err(ended(Stage::Receive, Sent::Maybe)));
        }
        let waiting = self.waiting.take().into_iter();
        for queued in waiting.chain(std::iter::from_fn(|| self.queue.try_recv().ok())) {
            queued.fail(ended(Stage::Queue, Sent::No));
        }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.close(|_| {});
    }
}

impl Queued {
    fn fail(self, error: TransportError) {
        let _ = self.answer.send(Err(error));
    }
}

/// What callers have of the connection: the transport inside a [`Caller`].
#[derive(Clone)]
struct Handle {
    queue: mpsc::Sender<Queued>,
    given_up: Arc<GivenUp>,
}

impl tower::Service<Request<Body>> for Handle {
    type Response = Response<Body>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().exchange(request))
    }
}

impl Handle {
    async fn exchange(self, request: Request<Body>) -> Outcome {
        let Request { head, body } = request;
        let Some(body) = body.into_once() else {
            let fault = error(TransportErrorKind::Unsupported, Stage::Send, Sent::No);
            return Err(fault.because("the protocol has no streams"));
        };
        let deadline = head.deadline;
        let (answer, outcome) = oneshot::channel();
        let queueing = self.queue.send(Queued { head, body, answer });
        let queued = match deadline {
            Some(at) => match timeout_at(at.into(), queueing).await {
                Ok(queued) => queued,
                Err(_) => return Err(TransportError::deadline(Stage::Queue, Sent::No)),
            },
            None => queueing.await,
        };
        if queued.is_err() {
            return Err(ended(Stage::Queue, Sent::No));
        }
        let mut waiting = Waiting { outcome, given_up: Some(self.given_up) };
        let result = (&mut waiting.outcome).await;
        waiting.given_up = None;
        result.unwrap_or_else(|_| Err(ended(Stage::Receive, Sent::Maybe)))
    }
}

/// Tells the driver when it is dropped before its answer came.
struct Waiting {
    outcome: oneshot::Receiver<Outcome>,
    given_up: Option<Arc<GivenUp>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(given_up) = self.given_up.take() {
            self.outcome.close(); // first, so that the driver finds it
            given_up.set.store(true, Ordering::Release);
            given_up.driver.wake();
        }
    }
}

fn unfit(fault: OpenError) -> TransportError {
    let kind = match fault {
        OpenError::GoingAway => return ended(Stage::Queue, Sent::No),
        OpenError::TooLarge { .. } => TransportErrorKind::TooLarge,
        _ => TransportErrorKind::Unsupported,
    };
    error(kind, Stage::Send, Sent::No).because(fault)
}

fn ended(stage: Stage, sent: Sent) -> TransportError {
    error(TransportErrorKind::Closed, stage, sent).because("the connection to call back over ended")
}

fn error(kind: TransportErrorKind, stage: Stage, sent: Sent) -> TransportError {
    TransportError::new(kind, stage, sent)
}
