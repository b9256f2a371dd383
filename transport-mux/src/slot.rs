use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;

use bytes::Bytes;
use rpc_core::{RequestHead, Sent, Stage, TransportError, TransportErrorKind};
use rpc_net::{Backoff, Connect, Waiting};
use rpc_wire::{CallId, MakeProtocol, OpenError};
use tokio::time::Instant;

use crate::MuxConfig;
use crate::connection::Connection;
use crate::driver::drive;

/// What all slots of a transport share.
pub(crate) struct Common<P: MakeProtocol, C> {
    pub(crate) connector: C,
    pub(crate) protocol: P,
    pub(crate) config: MuxConfig,
    pub(crate) waiting: Waiting,
    /// Weakly, since each of them holds this.
    slots: OnceLock<Box<[WeakSlot<P, C>]>>,
}

/// The slots of a transport.
pub(crate) fn slots<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: MuxConfig,
) -> Slots<P, C> {
    let (connections, waiting) = (config.connections.max(1), Waiting::new(config.max_waiting));
    let common = Arc::new(Common { connector, protocol, config, waiting, slots: OnceLock::new() });
    let slots: Slots<P, C> = (0..connections).map(|_| Arc::new(Slot::new(common.clone()))).collect();
    common.slots.get_or_init(|| slots.iter().map(Arc::downgrade).collect());
    slots
}

pub(crate) type Slots<P, C> = Box<[Arc<Slot<P, C>>]>;
type WeakSlot<P, C> = Weak<Slot<P, C>>;

/// The place of one of a transport's connections, with the calls that wait for it.
///
/// ```text
///        dial              opened            broken · going away
///  Idle ─────► Dialling ──────────► Open ────────────────────────► Idle
///   ▲              │ failed: those who wait get the error
///   └──────────────┘
/// ```
pub(crate) struct Slot<P: MakeProtocol, C> {
    pub(crate) common: Arc<Common<P, C>>,
    state: Mutex<State<P::Protocol>>,
}

struct State<P> {
    link: Link<P>,
    backoff: Backoff,
    /// Why the last attempt to connect failed, for calls that come before the next.
    failure: Option<Arc<TransportError>>,
    /// Calls that wait, by ticket: first come, first served.
    queue: BTreeMap<u64, Queued>,
    next_ticket: u64,
    /// The transport is gone.
    closed: bool,
}

enum Link<P> {
    Idle,
    Dialling,
    Open(Arc<Connection<P>>),
}

/// A call that waits.
struct Queued {
    waker: Waker,
    /// The attempt to connect that it waited for failed.
    failed: bool,
}

/// What came of the attempt to put a call on a connection.
pub(crate) enum Boarding<P: MakeProtocol, C> {
    /// It is on it.
    Seated(Arc<Connection<P::Protocol>>, CallId),
    /// It waits under this ticket.
    Queued(u64),
    /// There is no connection here, but one in another slot.
    Elsewhere(Arc<Slot<P, C>>),
    /// It can not be.
    Failed(TransportError),
}

impl<P: MakeProtocol, C: Connect> Slot<P, C> {
    fn new(common: Arc<Common<P, C>>) -> Self {
        let state = State {
            link: Link::Idle,
            backoff: Backoff::new(common.config.backoff.clone()),
            failure: None,
            queue: BTreeMap::new(),
            next_ticket: 0,
            closed: false,
        };
        Self { common, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<P::Protocol>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether calls can be put on a connection at once.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&self.lock().link, Link::Open(connection) if connection.is_open())
    }

    /// Puts a call on the connection, or into the queue. `ticket` is that of a call that waits already.
    pub(crate) fn board(
        self: &Arc<Self>,
        head: &RequestHead,
        body: &Bytes,
        waker: &Waker,
        ticket: Option<u64>,
    ) -> Boarding<P, C> {
        if ticket.is_none()
            && let Some(connection) = self.connection_without_queue()
        {
            // Most calls take this way. Nobody is ahead, and the lock of the slot is free again.
            match connection.open(head, body, waker) {
                Ok(id) => return Boarding::Seated(connection, id),
                Err(OpenError::Full | OpenError::GoingAway) => {}
                Err(error) => return Boarding::Failed(self.unfit(error)),
            }
        }
        match self.board_in_turn(head, body, waker, ticket) {
            // Looked at after the call is in the queue, so that a slot that opens now either is seen or wakes the call.
            Boarding::Queued(ticket) => match self.open_elsewhere() {
                Some(other) => {
                    self.give_up_waiting(ticket);
                    Boarding::Elsewhere(other)
                }
                None => Boarding::Queued(ticket),
            },
            boarding => boarding,
        }
    }

    /// Another slot that has a connection, where this one has none: a peer of several addresses may have one that is never
    /// reached.
    fn open_elsewhere(&self) -> Option<Arc<Self>> {
        if matches!(self.lock().link, Link::Open(_)) {
            return None;
        }
        let others = self.common.slots.get()?;
        others.iter().filter_map(Weak::upgrade).find(|slot| slot.is_open())
    }

    /// Wakes all who wait, if there is no connection here: there is one elsewhere.
    fn wake_stranded(&self) {
        let state = self.lock();
        if matches!(state.link, Link::Open(_)) {
            return;
        }
        let stranded: Vec<_> = state.queue.values().map(|queued| queued.waker.clone()).collect();
        drop(state);
        stranded.into_iter().for_each(Waker::wake);
    }

    fn connection_without_queue(&self) -> Option<Arc<Connection<P::Protocol>>> {
        let state = self.lock();
        match &state.link {
            Link::Open(connection) if state.queue.is_empty() => Some(connection.clone()),
            _ => None,
        }
    }

    /// The slow way: takes a place in the queue, and boards if it is the first there.
    fn board_in_turn(
        self: &Arc<Self>,
        head: &RequestHead,
        body: &Bytes,
        waker: &Waker,
        ticket: Option<u64>,
    ) -> Boarding<P, C> {
        let mut state = self.lock();
        let ticket = ticket.unwrap_or_else(|| state.take_ticket(&self.common.waiting));
        let failed = state
            .queue
            .insert(ticket, Queued { waker: waker.clone(), failed: false })
            .is_some_and(|w| w.failed);
        if failed && let Some(failure) = state.failure.clone() {
            state.leave_queue(ticket, &self.common.waiting);
            return Boarding::Failed(self.unreachable(failure));
        }
        if state.queue.first_key_value().is_none_or(|(first, _)| *first != ticket) {
            return Boarding::Queued(ticket);
        }
        if let Link::Open(connection) = &state.link {
            let connection = connection.clone();
            // Under the slot's lock: a connection that finds room from here on finds this call in the queue too.
            match connection.open(head, body, waker) {
                Ok(id) => {
                    let next = state.leave_queue(ticket, &self.common.waiting);
                    drop(state);
                    if let Some(next) = next {
                        next.wake(); // there may be room for one more
                    }
                    return Boarding::Seated(connection, id);
                }
                Err(OpenError::Full) => return Boarding::Queued(ticket),
                Err(OpenError::GoingAway) => state.link = Link::Idle,
                Err(error) => {
                    let next = state.leave_queue(ticket, &self.common.waiting);
                    drop(state);
                    if let Some(next) = next {
                        next.wake();
                    }
                    return Boarding::Failed(self.unfit(error));
                }
            }
        }
        if let Link::Idle = state.link {
            if !state.backoff.may_try(Instant::now().into_std())
                && let Some(failure) = state.failure.clone()
            {
                let next = state.leave_queue(ticket, &self.common.waiting);
                drop(state);
                if let Some(next) = next {
                    next.wake();
                }
                return Boarding::Failed(self.unreachable(failure));
            }
            self.begin_dialling(&mut state);
        }
        Boarding::Queued(ticket)
    }

    /// Takes a call out of the queue.
    pub(crate) fn give_up_waiting(&self, ticket: u64) {
        let next = self.lock().leave_queue(ticket, &self.common.waiting);
        if let Some(next) = next {
            next.wake();
        }
    }

    /// Wakes the call whose turn it is; it wakes the next if it finds room.
    pub(crate) fn wake_first(&self) {
        let first = self.lock().queue.first_key_value().map(|(_, waiting)| waiting.waker.clone());
        if let Some(first) = first {
            first.wake();
        }
    }

    /// Begins to dial, if there is no connection and the last attempt is long enough ago.
    pub(crate) fn dial(self: &Arc<Self>) {
        let mut state = self.lock();
        if matches!(&state.link, Link::Open(connection) if !connection.is_open()) {
            state.link = Link::Idle;
        }
        if matches!(state.link, Link::Idle) && state.backoff.may_try(Instant::now().into_std()) {
            self.begin_dialling(&mut state);
        }
    }

    /// One attempt for all who wait, on a task of its own: it goes on when the call that began it is given up.
    fn begin_dialling(self: &Arc<Self>, state: &mut State<P::Protocol>) {
        state.link = Link::Dialling;
        let slot = self.clone();
        tokio::spawn(async move {
            match slot.common.connector.connect().await {
                Ok(io) => slot.open(io),
                Err(error) => slot.failed(error),
            }
        });
    }

    /// Takes a connection that was made.
    pub(crate) fn open(self: &Arc<Self>, io: C::Io) {
        let common = &self.common;
        let protocol = common.protocol.client(&common.config.limits, common.config.first_id);
        let connection = Arc::new(Connection::new(protocol, common.connector.endpoint().clone()));
        {
            let mut state = self.lock();
            state.backoff.succeeded();
            state.failure = None;
            if state.closed {
                return;
            }
            state.link = Link::Open(connection.clone());
        }
        let slot = Arc::downgrade(self);
        tokio::spawn(async move {
            let on_room = || {
                if let Some(slot) = slot.upgrade() {
                    slot.wake_first();
                }
            };
            let on_leaving = || {
                if let Some(slot) = slot.upgrade() {
                    slot.forget(&connection);
                }
            };
            drive(io, &connection, on_room, on_leaving).await;
        });
        self.wake_first();
        let others = self.common.slots.get().into_iter().flatten();
        others.filter_map(Weak::upgrade).for_each(|slot| slot.wake_stranded());
    }

    fn failed(&self, error: TransportError) {
        let mut wake = Vec::new();
        {
            let mut state = self.lock();
            state.backoff.failed(Instant::now().into_std());
            state.failure = Some(Arc::new(error));
            state.link = Link::Idle;
            for waiting in state.queue.values_mut() {
                waiting.failed = true;
                wake.push(waiting.waker.clone());
            }
        }
        wake.into_iter().for_each(Waker::wake);
    }

    /// Forgets a connection that ended or takes no new calls; those who wait get the next one.
    pub(crate) fn forget(self: &Arc<Self>, connection: &Arc<Connection<P::Protocol>>) {
        let mut state = self.lock();
        if matches!(&state.link, Link::Open(known) if Arc::ptr_eq(known, connection)) {
            state.link = Link::Idle;
        }
        drop(state);
        self.wake_first();
    }

    /// The transport is gone: the connection ends when the calls on it are over.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Link::Open(connection) = &state.link {
            connection.leave();
        }
    }

    /// Of the connection, if there is one: the calls that wait for their answers, and the answers that wait for their callers.
    pub(crate) fn count(&self) -> Option<(usize, usize)> {
        let connection = match &self.lock().link {
            Link::Open(connection) => connection.clone(),
            _ => return None,
        };
        Some(connection.count())
    }

    /// An error of this transport's.
    pub(crate) fn error(&self, kind: TransportErrorKind, stage: Stage, sent: Sent) -> TransportError {
        TransportError::new(kind, stage, sent).at(self.common.connector.endpoint().clone())
    }

    fn unfit(&self, error: OpenError) -> TransportError {
        let kind = match error {
            OpenError::TooLarge { .. } => TransportErrorKind::TooLarge,
            _ => TransportErrorKind::Unsupported,
        };
        self.error(kind, Stage::Send, Sent::No).because(error)
    }

    fn unreachable(&self, failure: Arc<TransportError>) -> TransportError {
        self.error(failure.kind(), failure.stage(), Sent::No).because(Failure(failure))
    }
}

impl<P> State<P> {
    fn take_ticket(&mut self, waiting: &Waiting) -> u64 {
        waiting.enter();
        self.next_ticket += 1;
        self.next_ticket
    }

    /// Returns who is first now, if that changed.
    fn leave_queue(&mut self, ticket: u64, waiting: &Waiting) -> Option<Waker> {
        let was_first = self.queue.first_key_value().is_some_and(|(first, _)| *first == ticket);
        if self.queue.remove(&ticket).is_some() {
            waiting.leave();
        }
        let first = self.queue.first_key_value().filter(|_| was_first);
        first.map(|(_, waiting)| waiting.waker.clone())
    }
}

/// A failure to connect that many calls share: it says the cause, since the rest stands in the error around it.
#[derive(Debug)]
struct Failure(Arc<TransportError>);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::error::Error::source(&*self.0) {
            Some(cause) => fmt::Display::fmt(cause, f),
            None => f.write_str("the last attempt failed"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.0)
    }
}
