use std::collections::HashMap;
use std::time::Instant;

use bytes::Bytes;
use rpc_core::{RequestHead, ResponseHead, Status, Value};
use slab::Slab;

use super::outgoing::earlier;
use crate::{Answer, CallId, Event, More};

/// The calls that the peer made. They are keyed by a number of our own: peers may use an id for several calls at once, and
/// some use one id for all. Answers to calls that share an id leave in the order in which those came, so that a peer
/// which ignores ids is served right; where all answers must keep their order, all calls share one chain.
///
/// ```text
///   chain of an id:   first ──► second ──► third       answered in this order; an answer that is
///                     (next)    held                   early is held until those before it left
/// ```
#[derive(Debug)]
pub(super) struct Incoming<M> {
    calls: Slab<Pending<M>>,
    /// The last call of each chain. A call that is alone in the table is not in it, since most calls are and are answered
    /// before the next comes.
    tails: HashMap<u32, usize>,
    alone: Option<usize>,
    ordered: bool,
    /// No call's deadline is earlier. It may be too early.
    wake: Option<Instant>,
    /// Bytes of answers that are held.
    held_bytes: usize,
    /// Bytes of requests that are not answered.
    bytes: usize,
}

#[derive(Debug)]
struct Pending<M> {
    /// `None` once it is taken for the answer, and where no answer is wanted.
    mirror: Option<M>,
    chain: u32,
    prev: Option<usize>,
    next: Option<usize>,
    held: Option<(ResponseHead, Bytes)>,
    deadline: Option<Instant>,
    /// Bytes of the request, 0 once it is answered.
    size: usize,
}

/// A request that was cut off the stream and not yet taken.
#[derive(Debug)]
pub(super) struct Arrival<M> {
    pub(super) id: u32,
    pub(super) head: RequestHead,
    pub(super) body: Bytes,
    pub(super) answer: Answer,
    pub(super) mirror: M,
    pub(super) refused: Option<Status>,
    /// Bytes that it had on the wire.
    pub(super) size: usize,
}

impl<M> Arrival<M> {
    pub(super) fn refused(id: u32, status: Status, mirror: M, size: usize) -> Self {
        let (head, body) = (RequestHead::default(), Bytes::new());
        Self { id, head, body, answer: Answer::Wanted, mirror, refused: Some(status), size }
    }
}

impl<M> Incoming<M> {
    pub(super) fn new(ordered: bool) -> Self {
        Self {
            calls: Slab::new(),
            tails: HashMap::new(),
            alone: None,
            ordered,
            wake: None,
            held_bytes: 0,
            bytes: 0,
        }
    }

    /// Puts a request into the table.
    pub(super) fn insert(&mut self, arrival: Arrival<M>) -> (Event, Option<Status>) {
        let Arrival { id: peer_id, head, body, answer, mirror, refused, size } = arrival;
        let chain = if self.ordered { 0 } else { peer_id };
        self.wake = earlier(self.wake, head.deadline);
        self.bytes += size;
        let mirror = (answer == Answer::Wanted).then_some(mirror);
        let chained = mirror.is_some();
        let was_empty = self.calls.is_empty();
        let key = self.calls.insert(Pending {
            mirror,
            chain,
            prev: None,
            next: None,
            held: None,
            deadline: head.deadline,
            size,
        });
        if was_empty {
            self.alone = chained.then_some(key);
        } else if chained {
            self.link(key, chain);
        }
        (Event::Request { id: call_id(key), head, body, more: More::Done }, refused)
    }

    fn link(&mut self, key: usize, chain: u32) {
        if let Some(alone) = self.alone.take()
            && let Some(call) = self.calls.get(alone)
        {
            self.tails.insert(call.chain, alone);
        }
        if let Some(prev) = self.tails.insert(chain, key) {
            if let Some(call) = self.calls.get_mut(prev) {
                call.next = Some(key);
            }
            if let Some(call) = self.calls.get_mut(key) {
                call.prev = Some(prev);
            }
        }
    }

    pub(super) fn contains(&self, id: CallId) -> bool {
        self.get(id).is_some_and(|call| call.held.is_none())
    }

    /// Whether no call before it in its chain is unanswered.
    pub(super) fn is_next(&self, id: CallId) -> bool {
        self.get(id).is_some_and(|call| call.prev.is_none())
    }

    /// Keeps an answer until it is the call's turn.
    pub(super) fn hold(&mut self, id: CallId, head: ResponseHead, body: Bytes) {
        let size = size(&head, &body);
        if let Some(call) = self.get_mut(id) {
            call.held = Some((head, body));
            call.deadline = None; // it is answered, as far as the handler is concerned
            let answered = std::mem::take(&mut call.size);
            self.bytes -= answered;
            self.held_bytes += size;
        }
    }

    pub(super) fn is_held(&self, id: CallId) -> bool {
        self.get(id).is_some_and(|call| call.held.is_some())
    }

    pub(super) fn take_held(&mut self, id: CallId) -> Option<(ResponseHead, Bytes)> {
        let held = self.get_mut(id)?.held.take();
        if let Some((head, body)) = &held {
            self.held_bytes -= size(head, body);
        }
        held
    }

    pub(super) fn take_mirror(&mut self, id: CallId) -> Option<M> {
        self.get_mut(id)?.mirror.take()
    }

    pub(super) fn put_mirror(&mut self, id: CallId, mirror: M) {
        if let Some(call) = self.get_mut(id) {
            call.mirror = Some(mirror);
        }
    }

    /// Takes a call out of the table; returns the one whose turn it is then.
    pub(super) fn remove(&mut self, id: CallId) -> Option<CallId> {
        let key = key(id)?;
        let call = self.calls.try_remove(key)?;
        self.bytes -= call.size;
        if self.alone == Some(key) {
            self.alone = None;
        } else if self.tails.get(&call.chain) == Some(&key) {
            self.tails.remove(&call.chain);
        }
        let next = call.next?;
        self.calls.get_mut(next)?.prev = None;
        Some(call_id(next))
    }

    /// The calls whose time is up.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<CallId> {
        if self.wake.is_none_or(|wake| wake > now) {
            return Vec::new();
        }
        let (mut expired, mut wake) = (Vec::new(), None);
        for (key, call) in &mut self.calls {
            match call.deadline {
                Some(deadline) if deadline <= now => {
                    call.deadline = None;
                    expired.push(call_id(key));
                }
                deadline => wake = earlier(wake, deadline),
            }
        }
        self.wake = wake;
        expired
    }

    pub(super) fn wake(&self) -> Option<Instant> {
        self.wake
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// How many bytes the requests have that are not answered.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many bytes of answers wait for their turn.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    fn get(&self, id: CallId) -> Option<&Pending<M>> {
        self.calls.get(key(id)?)
    }

    fn get_mut(&mut self, id: CallId) -> Option<&mut Pending<M>> {
        self.calls.get_mut(key(id)?)
    }
}

/// What an answer that is held takes, in bytes.
fn size(head: &ResponseHead, body: &Bytes) -> usize {
    let status =
        head.status.as_ref().err().map_or(0, |status| status.message().len() + status.details().len());
    let metadata = head.metadata.iter().map(|(key, value, _)| {
        key.len()
            + match value {
                Value::Text(text) => text.len(),
                Value::Binary(bytes) => bytes.len(),
            }
    });
    size_of::<(ResponseHead, Bytes)>() + status + metadata.sum::<usize>() + body.len()
}

fn key(id: CallId) -> Option<usize> {
    usize::try_from(id.0.checked_sub(PEERS)?).ok()
}

/// The highest bit is set, which ids of calls that were made here never have: where both sides call, events and resets say by
/// that whose call they mean. The table never holds more than `Limits::max_in_flight` calls; past `i32::MAX` a call could not
/// be named.
const PEERS: u32 = 1 << 31;

fn call_id(key: usize) -> CallId {
    CallId(u32::try_from(key).unwrap_or(u32::MAX) | PEERS)
}
