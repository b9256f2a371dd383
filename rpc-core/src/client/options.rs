use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Context, Metadata, Name, Scope, Value};

/// What a call may ask for, as a value. A [`Client`](crate::Client) holds one for all calls made through it;
/// [`Client::with`](crate::Client::with) gives a view of the client with another.
#[derive(Clone, Debug)]
pub struct CallOptions {
    timeout: Duration,
    deadline: Option<Instant>,
    metadata: Metadata,
    idempotent: bool,
    retries: u32,
    wait_for_ready: bool,
    reply: Option<ReplyMetadata>,
}

impl CallOptions {
    /// How long a call may take unless told otherwise. Long enough for a slow peer, short enough that callers do not
    /// pile up behind a dead one.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

    /// How often a request that provably was not sent is sent again, unless told otherwise.
    pub const RETRIES: u32 = 2;

    /// The defaults.
    pub fn new() -> Self {
        Self {
            timeout: Self::DEFAULT_TIMEOUT,
            deadline: None,
            metadata: Metadata::new(),
            idempotent: false,
            retries: Self::RETRIES,
            wait_for_ready: false,
            reply: None,
        }
    }

    /// Options for a call that is made while another is being served: its deadline, if that is earlier than the timeout
    /// set here, and its persistent metadata go along.
    pub fn following(context: &Context) -> Self {
        Self { deadline: context.deadline(), metadata: context.metadata().persistent(), ..Self::new() }
    }

    /// How long each call may take, from when it is made. Default: [`Self::DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// When calls end whatever their timeout. Default: none.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sends a pair along, to the next hop. Protocols that have no place for metadata leave it out: framed and unframed Thrift,
    /// framed Kitex-Protobuf and msgpack-rpc. TTHeader has.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key, value);
        self
    }

    /// Sends a pair along, through the whole chain of calls; by protocols as [`metadata`](Self::metadata) says.
    #[must_use]
    pub fn persistent_metadata(mut self, key: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.metadata.insert_scoped(key, value, Scope::Persistent);
        self
    }

    /// Says that executing the request twice does no harm, so that it may be sent again also when the connection broke
    /// while it may have been executed. Default: off.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// How often a request may be sent again. 0 turns that off. Default: [`Self::RETRIES`].
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Waits until the deadline for a peer that can not be reached, instead of failing at once. Default: off.
    #[must_use]
    pub fn wait_for_ready(mut self) -> Self {
        self.wait_for_ready = true;
        self
    }

    /// Keeps the metadata of the answer in `reply`, where it can be taken once the call is done.
    #[must_use]
    pub fn reply_metadata(mut self, reply: &ReplyMetadata) -> Self {
        self.reply = Some(reply.clone());
        self
    }

    /// The instant at which a call made now ends.
    pub(crate) fn deadline_from(&self, now: Instant) -> Option<Instant> {
        // A timeout past what an instant can hold is no timeout.
        let ends = now.checked_add(self.timeout);
        match (ends, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(crate) fn pairs(&self) -> &Metadata {
        &self.metadata
    }

    pub(crate) fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    pub(crate) fn waits_for_ready(&self) -> bool {
        self.wait_for_ready
    }

    pub(crate) fn max_retries(&self) -> u32 {
        self.retries
    }

    pub(crate) fn reply_slot(&self) -> Option<&ReplyMetadata> {
        self.reply.as_ref()
    }
}

impl Default for CallOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A place for the metadata of an answer.
#[derive(Clone, Debug, Default)]
pub struct ReplyMetadata(Arc<Mutex<Metadata>>);

impl ReplyMetadata {
    /// An empty place.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the last answer brought; empty before it came.
    pub fn take(&self) -> Metadata {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set(&self, metadata: Metadata) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = metadata;
    }
}
