use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::{Caller, Metadata, Method, Name, Outcome, RequestHead, Scope, Status, Value};

/// What a handler knows of the call that it serves, and what it may add to the answer.
///
/// When the caller gives the call up, its connection ends or its deadline passes, the handler's future is dropped at
/// its next `await`. A handler that computes for long without one can ask [`Context::is_cancelled`].
pub struct Context {
    head: RequestHead,
    reply: Mutex<Metadata>,
    cancellation: Option<Arc<Cancellation>>,
}

impl Context {
    pub(crate) fn new(head: RequestHead, cancellation: Option<Arc<Cancellation>>) -> Self {
        Self { head, reply: Mutex::default(), cancellation }
    }

    /// The service's name as the wire gave it; empty where the wire does not name it.
    pub fn service(&self) -> &Name {
        &self.head.service
    }

    /// The method's name.
    pub fn method(&self) -> &Name {
        &self.head.method
    }

    /// The peer's address, where its connection has one.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.head.origin.as_ref().and_then(|origin| origin.peer)
    }

    /// The name of the protocol that the request came in by.
    pub fn protocol(&self) -> &'static str {
        self.head.origin.as_ref().map_or("", |origin| origin.protocol)
    }

    /// A transport that calls the peer over the connection that this request came by, where the protocol lets either side
    /// call, as msgpack-rpc does; `None` elsewhere. A client stands on it like on any stack, `Client::with_codec(codec,
    /// caller)`, and so do generated ones. It may be kept for longer than the call lasts.
    pub fn caller(&self) -> Option<Caller> {
        self.head.origin.as_ref()?.caller.clone()
    }

    /// When the caller gives up, if it said: of the protocols here, TTHeader alone has a place for that.
    pub fn deadline(&self) -> Option<Instant> {
        self.head.deadline
    }

    /// How long until the caller gives up, if it said; zero when it has.
    pub fn remaining(&self) -> Option<Duration> {
        let now = tokio::time::Instant::now().into_std();
        self.deadline().map(|deadline| deadline.saturating_duration_since(now))
    }

    /// What came beside the request, where the protocol has a place for it.
    pub fn metadata(&self) -> &Metadata {
        &self.head.metadata
    }

    /// Sends a pair beside the answer, where the protocol has a place for it.
    pub fn reply_metadata(&self, key: impl Into<Name>, value: impl Into<Value>) {
        let mut reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        reply.insert_scoped(key, value, Scope::Transient);
    }

    /// Whether nobody waits for the answer any more. It can become true only while the handler runs elsewhere than on
    /// its connection's task ([`Dispatch::Spawn`](crate::Dispatch::Spawn), [`Dispatch::Blocking`](crate::Dispatch::Blocking)
    /// and a slow method under [`Dispatch::Adaptive`](crate::Dispatch::Adaptive)), or after the deadline.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(|cancellation| cancellation.is_set())
            || self.remaining() == Some(Duration::ZERO)
    }

    /// Ends the call: used by generated code.
    pub fn finish<M: Method>(self, outcome: Result<Outcome<M>, Status>) -> Finished<M> {
        Finished { outcome, metadata: self.reply.into_inner().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("head", &self.head).finish_non_exhaustive()
    }
}

/// How a handler ended, with what it adds to the answer.
pub struct Finished<M: Method> {
    pub(crate) outcome: Result<Outcome<M>, Status>,
    pub(crate) metadata: Metadata,
}

impl<M: Method> fmt::Debug for Finished<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match &self.outcome {
            Ok(Ok(_)) => "response",
            Ok(Err(_)) => "exception",
            Err(_) => "failure",
        };
        f.debug_struct("Finished").field("outcome", &outcome).field("metadata", &self.metadata).finish()
    }
}

/// Tells a handler that runs elsewhere that its call is over.
#[derive(Debug, Default)]
pub(crate) struct Cancellation {
    set: AtomicBool,
    changed: Notify,
}

impl Cancellation {
    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Returns once it is set.
    pub(crate) async fn wait(&self) {
        let mut changed = std::pin::pin!(self.changed.notified());
        changed.as_mut().enable(); // before the look, so that no change falls between
        if !self.is_set() {
            changed.await;
        }
    }
}
