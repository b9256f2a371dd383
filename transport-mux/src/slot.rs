use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;

use bytes::Bytes;
use rpc_core::{RequestHead, Routes, Sent, Stage, TransportError, TransportErrorKind};
use rpc_net::{Backoff, Connect, DialFailure, Waiting};
use rpc_wire::{MakeProtocol, OpenError};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::MuxConfig;
use crate::connection::{Cause, Connection, Seat};
use crate::driver::drive;
use crate::serving::Serving;

/// What all slots of a transport share.
pub(crate) struct Common<P: MakeProtocol, C> {
    pub(crate) connector: C,
    pub(crate) protocol: P,
    pub(crate) config: MuxConfig,
    /// What serves calls of the peer.
    routes: Option<Routes>,
    pub(crate) waiting: Waiting,
    /// Weakly, since each of them holds this.
    slots: OnceLock<Box<[WeakSlot<P, C>]>>,
}

/// The slots of a transport.
pub(crate) fn slots<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: MuxConfig,
    routes: Option<Routes>,
) -> Slots<P, C> {
    let (connections, waiting) = (config.connections.max(1), Waiting::new(config.max_waiting));
    let common = Arc::new(Common { connector, protocol, config, routes, waiting, slots: OnceLock::new() });
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
    /// What calls waited for, until they take it. They were served without being polled, so one that its owner neglects holds
    /// up nobody.
    served: BTreeMap<u64, Served<P>>,
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
    head: RequestHead,
    body: Bytes,
    waker: Waker,
}

type Served<P> = Result<(Arc<Connection<P>>, Option<Seat>), TransportError>;

/// What came of the attempt to put a call on a connection.
pub(crate) enum Boarding<P> {
    /// It is on it; without a seat if it wants no answer.
    Seated(Arc<Connection<P>>, Option<Seat>),
    /// It waits under this ticket.
    Queued(u64),
    /// There is no connection here, but one in another slot.
    Elsewhere,
    /// It can not be.
    Failed(TransportError),
}

/// What is to be done once the slot's lock is free: wakers may run anything.
struct After<'a, P: MakeProtocol, C: Connect> {
    slot: &'a Arc<Slot<P, C>>,
    wake: Vec<Waker>,
    /// What is not needed any more.
    drop: Vec<Queued>,
    /// Calls that left the queue.
    left: usize,
    dial: bool,
}

impl<P: MakeProtocol, C: Connect> Drop for After<'_, P, C> {
    fn drop(&mut self) {
        self.drop.clear();
        for _ in 0..self.left {
            self.slot.common.waiting.leave();
        }
        self.wake.drain(..).for_each(Waker::wake);
        if self.dial {
            self.slot.spawn_dialling();
        }
    }
}

impl<P: MakeProtocol, C: Connect> Slot<P, C> {
    fn new(common: Arc<Common<P, C>>) -> Self {
        let state = State {
            link: Link::Idle,
            backoff: Backoff::new(common.config.backoff.clone()),
            failure: None,
            queue: BTreeMap::new(),
            served: BTreeMap::new(),
            next_ticket: 0,
            closed: false,
        };
        Self { common, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<P::Protocol>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be made before the lock is taken, so that it ends after it.
    fn after(self: &Arc<Self>) -> After<'_, P, C> {
        After { slot: self, wake: Vec::new(), drop: Vec::new(), left: 0, dial: false }
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
    ) -> Boarding<P::Protocol> {
        if ticket.is_none()
            && let Some(connection) = self.connection_without_queue()
        {
            // Most calls take this way. Nobody is ahead, and the lock of the slot is free again.
            match connection.open(head, body, waker) {
                Ok(seat) => return Boarding::Seated(connection, seat),
                Err(OpenError::Full | OpenError::GoingAway) => {}
                Err(error) => return Boarding::Failed(self.unfit(error)),
            }
        }
        match self.board_in_turn(head, body, waker, ticket) {
            // Looked at after the call is in the queue, so that a slot that opens now either is seen or wakes the call.
            Boarding::Queued(ticket) if self.is_open_elsewhere() => self.leave_queue(ticket),
            boarding => boarding,
        }
    }

    fn connection_without_queue(&self) -> Option<Arc<Connection<P::Protocol>>> {
        let state = self.lock();
        match &state.link {
            Link::Open(connection) if state.queue.is_empty() => Some(connection.clone()),
            _ => None,
        }
    }

    /// Whether another slot has a connection, and this one has none: a peer of several addresses may have one that is never
    /// reached.
    fn is_open_elsewhere(&self) -> bool {
        if matches!(self.lock().link, Link::Open(_)) {
            return false;
        }
        let others = self.common.slots.get().into_iter().flatten();
        others.filter_map(Weak::upgrade).any(|slot| slot.is_open())
    }

    /// The slow way: takes what the call was served with, or a place in the queue, which may be served at once.
    fn board_in_turn(
        self: &Arc<Self>,
        head: &RequestHead,
        body: &Bytes,
        waker: &Waker,
        ticket: Option<u64>,
    ) -> Boarding<P::Protocol> {
        let mut after = self.after();
        let mut state = self.lock();
        let ticket = ticket.unwrap_or_else(|| {
            state.next_ticket += 1;
            state.next_ticket
        });
        if !state.served.contains_key(&ticket) {
            let queued = Queued { head: head.clone(), body: body.clone(), waker: waker.clone() };
            match state.queue.insert(ticket, queued) {
                Some(before) => after.drop.push(before),
                None => self.common.waiting.enter(),
            }
            self.advance(&mut state, &mut after);
        }
        match state.served.remove(&ticket) {
            Some(Ok((connection, seat))) => Boarding::Seated(connection, seat),
            Some(Err(error)) => Boarding::Failed(error),
            None => Boarding::Queued(ticket),
        }
    }

    /// Serves those who wait, as far as that goes.
    fn advance(&self, state: &mut State<P::Protocol>, after: &mut After<'_, P, C>) {
        while let Some((&ticket, queued)) = state.queue.first_key_value() {
            let served = if state.closed {
                let error = self.error(TransportErrorKind::Closed, Stage::Queue, Sent::No);
                Err(error.because("the transport is gone"))
            } else {
                match &state.link {
                    Link::Dialling => return,
                    Link::Open(connection) => {
                        match connection.open(&queued.head, &queued.body, &queued.waker) {
                            Ok(seat) => Ok((connection.clone(), seat)),
                            Err(OpenError::Full) => return,
                            Err(OpenError::GoingAway) => {
                                state.link = Link::Idle;
                                continue;
                            }
                            Err(error) => Err(self.unfit(error)),
                        }
                    }
                    Link::Idle => match &state.failure {
                        Some(failure) if !state.backoff.may_try(Instant::now().into_std()) => {
                            Err(self.unreachable(failure.clone()))
                        }
                        _ => {
                            state.link = Link::Dialling;
                            after.dial = true;
                            return;
                        }
                    },
                }
            };
            // Who has a seat is woken by its outcome.
            let wake = !matches!(&served, Ok((_, Some(_))));
            state.serve(ticket, served, wake, after);
        }
    }

    /// Leaves the queue for another slot, unless the call was served meanwhile: it may be on its way.
    fn leave_queue(self: &Arc<Self>, ticket: u64) -> Boarding<P::Protocol> {
        let mut after = self.after();
        let mut state = self.lock();
        match state.served.remove(&ticket) {
            Some(Ok((connection, seat))) => Boarding::Seated(connection, seat),
            Some(Err(error)) => Boarding::Failed(error),
            None => {
                if let Some(queued) = state.queue.remove(&ticket) {
                    after.left += 1;
                    after.drop.push(queued);
                }
                Boarding::Elsewhere
            }
        }
    }

    /// Gives up a place in the queue, or what was served.
    pub(crate) fn give_up(self: &Arc<Self>, ticket: u64) {
        let mut after = self.after();
        let mut state = self.lock();
        if let Some(queued) = state.queue.remove(&ticket) {
            after.left += 1;
            after.drop.push(queued);
        }
        let served = state.served.remove(&ticket);
        drop(state);
        if let Some(Ok((connection, Some(seat)))) = served {
            connection.abandon(seat);
        }
    }

    /// There may be room for calls that found none, or a connection to be made for them.
    fn serve_queue(self: &Arc<Self>) {
        let mut after = self.after();
        let mut state = self.lock();
        self.advance(&mut state, &mut after);
    }

    /// Wakes those who wait, since there is a connection elsewhere, unless there is one here too.
    fn wake_stranded(self: &Arc<Self>) {
        let mut after = self.after();
        let state = self.lock();
        if !matches!(state.link, Link::Open(_)) {
            after.wake.extend(state.queue.values().map(|queued| queued.waker.clone()));
        }
    }

    /// Begins to dial, if there is no connection and the last attempt is long enough ago.
    pub(crate) fn dial(self: &Arc<Self>) {
        let mut after = self.after();
        let mut state = self.lock();
        if matches!(&state.link, Link::Open(connection) if !connection.is_open()) {
            state.link = Link::Idle;
        }
        if matches!(state.link, Link::Idle) && state.backoff.may_try(Instant::now().into_std()) {
            state.link = Link::Dialling;
            after.dial = true;
        }
    }

    /// One attempt for all who wait, on a task of its own: it goes on when the call that began it is given up. No lock is
    /// held, since a runtime that ends drops its tasks at once.
    fn spawn_dialling(self: &Arc<Self>) {
        let attempt = Attempt(Some(self.clone()));
        let connector = self.common.connector.clone();
        spawn(async move { attempt.finish(connector.connect().await) });
    }

    /// Takes a connection that was made.
    pub(crate) fn open(self: &Arc<Self>, io: C::Io) {
        let common = &self.common;
        let protocol = common.protocol.client(&common.config.limits, common.config.first_id);
        let max_unsent = common.config.limits.max_unsent;
        let endpoint = common.connector.endpoint().clone();
        let connection = Arc::new(Connection::new(protocol, endpoint, max_unsent, common.routes.is_some()));
        let mut serving = common
            .routes
            .clone()
            .map(|routes| Serving::new(connection.clone(), routes, common.protocol.name()));
        let ending = Ending { slot: Arc::downgrade(self), connection: connection.clone(), cause: None };
        {
            let mut after = self.after();
            let mut state = self.lock();
            state.backoff.succeeded();
            state.failure = None;
            if state.closed {
                return;
            }
            state.link = Link::Open(connection.clone());
            self.advance(&mut state, &mut after);
        }
        spawn(async move {
            let (slot, connection) = (ending.slot.clone(), ending.connection.clone());
            let on_room = || {
                if let Some(slot) = slot.upgrade() {
                    slot.serve_queue();
                }
            };
            let on_leaving = || {
                if let Some(slot) = slot.upgrade() {
                    slot.forget(&connection);
                }
            };
            let cause = drive(io, &connection, serving.as_mut(), on_room, on_leaving).await;
            ending.because(cause);
            if let Some(serving) = serving {
                serving.finish().await;
            }
        });
        let others = self.common.slots.get().into_iter().flatten();
        others.filter_map(Weak::upgrade).for_each(|slot| slot.wake_stranded());
    }

    /// An attempt to connect failed. One that was broken off says nothing of the peer, so that the next is made at once.
    fn failed(self: &Arc<Self>, error: TransportError, broken_off: bool) {
        let mut after = self.after();
        let mut state = self.lock();
        if !broken_off {
            state.backoff.failed(Instant::now().into_std());
        }
        let failure = Arc::new(error);
        state.failure = Some(failure.clone());
        state.link = Link::Idle;
        while let Some((&ticket, _)) = state.queue.first_key_value() {
            state.serve(ticket, Err(self.unreachable(failure.clone())), true, &mut after);
        }
    }

    /// Forgets a connection that ended or takes no new calls; those who wait get the next one.
    fn forget(self: &Arc<Self>, connection: &Arc<Connection<P::Protocol>>) {
        let mut after = self.after();
        let mut state = self.lock();
        if matches!(&state.link, Link::Open(known) if Arc::ptr_eq(known, connection)) {
            state.link = Link::Idle;
            self.advance(&mut state, &mut after);
        }
    }

    /// The transport is gone, with its last call.
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
        self.error(failure.kind(), failure.stage(), Sent::No).because(DialFailure::new(failure))
    }
}

impl<P> State<P> {
    /// Takes a call from the queue to those who are served.
    fn serve<M: MakeProtocol<Protocol = P>, C: Connect>(
        &mut self,
        ticket: u64,
        served: Served<P>,
        wake: bool,
        after: &mut After<'_, M, C>,
    ) {
        let Some(queued) = self.queue.remove(&ticket) else { return };
        self.served.insert(ticket, served);
        after.left += 1;
        if wake {
            after.wake.push(queued.waker.clone());
        }
        after.drop.push(queued);
    }
}

/// Starts a task. Where there is no runtime, or one that ends, the task is dropped, and its guard reports that.
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(task);
    }
}

/// Reports what became of an attempt to connect, also when its task is broken off.
struct Attempt<P: MakeProtocol, C: Connect>(Option<Arc<Slot<P, C>>>);

impl<P: MakeProtocol, C: Connect> Attempt<P, C> {
    fn finish(mut self, result: Result<C::Io, TransportError>) {
        if let Some(slot) = self.0.take() {
            match result {
                Ok(io) => slot.open(io),
                Err(error) => slot.failed(error, false),
            }
        }
    }
}

impl<P: MakeProtocol, C: Connect> Drop for Attempt<P, C> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            let error = slot.error(TransportErrorKind::Connect, Stage::Connect, Sent::No);
            slot.failed(error.because("the attempt was broken off: its runtime ended"), true);
        }
    }
}

/// Ends a connection with its driver, also when that is broken off.
struct Ending<P: MakeProtocol, C: Connect> {
    slot: Weak<Slot<P, C>>,
    connection: Arc<Connection<P::Protocol>>,
    cause: Option<Arc<Cause>>,
}

impl<P: MakeProtocol, C: Connect> Ending<P, C> {
    fn because(mut self, cause: Arc<Cause>) {
        self.cause = Some(cause);
    }
}

impl<P: MakeProtocol, C: Connect> Drop for Ending<P, C> {
    fn drop(&mut self) {
        let cause = self.cause.take().unwrap_or_else(|| Cause::closed("its runtime ended"));
        self.connection.fail(cause).into_iter().for_each(Waker::wake);
        if let Some(slot) = self.slot.upgrade() {
            slot.forget(&self.connection);
        }
    }
}
