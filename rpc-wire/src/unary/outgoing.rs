use std::collections::VecDeque;
use std::time::Instant;

use rpc_core::{Name, RequestHead};

use crate::{CallId, IdMap, Order};

/// The calls that this side made, by the id that they have on the wire.
///
/// ```text
///            open                 answer
///  (no entry) ───► Live ─────────────────────► (no entry)
///                   │ abandon · expire               ▲
///                   └──► Abandoned ── answer ────────┘
/// ```
/// An abandoned call keeps its id until its answer came, so that the answer can not be taken for another call's.
#[derive(Debug)]
pub(super) struct Outgoing {
    calls: IdMap<Call>,
    next: u32,
    live: usize,
    /// No call's deadline is earlier. Calls end without touching it, so it may be too early.
    wake: Option<Instant>,
    /// The ids in the order of their calls, where answers come in it.
    order: Option<VecDeque<u32>>,
}

#[derive(Debug)]
enum Call {
    Live { method: Name, deadline: Option<Instant> },
    Abandoned,
}

/// Whose answer came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// A call's that had until then.
    Live(CallId, Option<Instant>),
    /// It says that it answers another method.
    WrongMethod(CallId),
    Abandoned,
    Unknown,
}

/// Ids are positive where they are signed, and never 0: Kitex's servers mean the connection itself by that.
const FIRST_ID: u32 = 1;
const LAST_ID: u32 = i32::MAX.cast_unsigned();

impl Outgoing {
    pub(super) fn new(first_id: u32, order: Order) -> Self {
        let next = if (FIRST_ID..=LAST_ID).contains(&first_id) { first_id } else { FIRST_ID };
        let order = (order == Order::InOrder).then(VecDeque::new);
        Self { calls: IdMap::new(), next, live: 0, wake: None, order }
    }

    /// An id that no call has, abandoned ones included.
    pub(super) fn next_id(&mut self) -> u32 {
        self.calls.reserve(); // half the places are free now, so the loop ends
        loop {
            let id = self.next;
            self.next = if id >= LAST_ID { FIRST_ID } else { id + 1 };
            if self.calls.has_room(id) {
                return id;
            }
        }
    }

    pub(super) fn insert(&mut self, id: u32, head: &RequestHead) {
        self.calls.insert(id, Call::Live { method: head.method.clone(), deadline: head.deadline });
        self.live += 1;
        self.wake = earlier(self.wake, head.deadline);
        if let Some(order) = &mut self.order {
            order.push_back(id);
        }
    }

    /// Ends the call that an answer is for.
    pub(super) fn answer(&mut self, id: Option<u32>, method: Option<&[u8]>) -> Answered {
        let Some(id) = id.or_else(|| self.order.as_mut().and_then(VecDeque::pop_front)) else {
            return Answered::Unknown;
        };
        match self.calls.remove(id) {
            None => Answered::Unknown,
            Some(Call::Abandoned) => Answered::Abandoned,
            Some(Call::Live { method: called, deadline }) => {
                self.live -= 1;
                match method {
                    Some(method) if method != called.as_bytes() => Answered::WrongMethod(CallId(id)),
                    _ => Answered::Live(CallId(id), deadline),
                }
            }
        }
    }

    /// The id of the call that is alone, where calls have ids.
    pub(super) fn only(&mut self) -> Option<u32> {
        let alone = self.order.is_none() && self.calls.len() == 1;
        if alone { self.calls.iter_mut().next().map(|(id, _)| id) } else { None }
    }

    /// Gives a call up; says whether it was one of ours and alive.
    pub(super) fn abandon(&mut self, id: CallId) -> bool {
        match self.calls.get_mut(id.0) {
            Some(call @ Call::Live { .. }) => {
                *call = Call::Abandoned;
                self.live -= 1;
                true
            }
            _ => false,
        }
    }

    /// Gives up the calls whose time is up.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<CallId> {
        if self.wake.is_none_or(|wake| wake > now) {
            return Vec::new();
        }
        let (mut expired, mut wake) = (Vec::new(), None);
        for (id, call) in self.calls.iter_mut() {
            match call {
                Call::Live { deadline: Some(deadline), .. } if *deadline <= now => {
                    *call = Call::Abandoned;
                    expired.push(CallId(id));
                }
                Call::Live { deadline, .. } => wake = earlier(wake, *deadline),
                Call::Abandoned => {}
            }
        }
        self.live -= expired.len();
        self.wake = wake;
        expired
    }

    #[cfg(test)]
    pub(super) fn set_next(&mut self, id: u32) {
        self.next = id;
    }

    pub(super) fn wake(&self) -> Option<Instant> {
        self.wake
    }

    pub(super) fn live(&self) -> usize {
        self.live
    }

    pub(super) fn abandoned(&self) -> usize {
        self.calls.len() - self.live
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

/// The earlier of two instants that may not be.
pub(super) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
