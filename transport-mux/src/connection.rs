use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{
    Body, BoxError, RequestHead, Response, ResponseHead, Sent, Stage, Status, TransportError,
    TransportErrorKind,
};
use rpc_net::reply;
use rpc_wire::{CallId, ConnectionError, Event, IdMap, More, OpenError, Protocol, Reason, WriteBuf};
use slab::Slab;

/// A connection as calls see it: they append requests and wait for outcomes. Its driver does the rest.
pub(crate) struct Connection<P> {
    endpoint: Arc<str>,
    /// How many bytes may wait to be written before no more is read.
    max_unsent: usize,
    /// The driver serves calls of the peer.
    serves: bool,
    state: Mutex<State<P>>,
}

/// The place of a call that waits for its outcome. It is the call's own until it takes the outcome or gives up, however long
/// that is: the protocol's id of the call may be in use again by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat(usize);

struct State<P> {
    protocol: P,
    /// The seats of calls in flight.
    calls: IdMap<usize>,
    seats: Slab<Waiter>,
    /// The driver, while it rests.
    driver: Option<Waker>,
    /// The driver took the output to write it so many times.
    taken: u64,
    /// The value of `taken` when the protocol was told the time last.
    timed: Option<u64>,
    /// A call found no room since this was last looked at.
    short_of_room: bool,
    /// No new calls: it ends when those on it are over.
    leaving: bool,
    /// It broke; all calls have their outcomes.
    broken: bool,
}

/// A call on the connection.
struct Waiter {
    id: CallId,
    /// The value of `State::taken` when it was put in: while that is unchanged, its bytes have not left.
    batch: u64,
    outcome: Outcome,
}

enum Outcome {
    Pending(Waker),
    Done(Result<Response<Bytes>, TransportError>),
}

/// What the driver is told after it handed something in.
#[derive(Default)]
pub(crate) struct Handled {
    /// Callers to wake, once no lock is held.
    pub(crate) wake: Vec<Waker>,
    /// There may be room for calls that found none.
    pub(crate) made_room: bool,
    /// The peer takes no new calls.
    pub(crate) went_away: bool,
    /// So much waits to be written that no more is to be read: the peer asks and does not read the answers.
    pub(crate) full: bool,
    /// Calls of the peer, and those of them that are over before they were answered.
    pub(crate) requests: Vec<(CallId, RequestHead, Bytes)>,
    pub(crate) over: Vec<CallId>,
}

/// What the driver is to do next.
pub(crate) enum Next {
    /// Write what was put into its buffer. That may have made room for calls that found none.
    Write { made_room: bool },
    /// Rest until it is woken, or until the instant.
    Rest(Option<Instant>),
    /// End: it takes no new calls, and those on it are over.
    End,
}

impl<P: Protocol> State<P> {
    /// Whether a call found no room since this was last asked, and there is some now.
    fn made_room(&mut self) -> bool {
        let made = self.short_of_room && self.protocol.capacity() > 0;
        self.short_of_room &= !made;
        made
    }
}

impl<P: Protocol> Connection<P> {
    pub(crate) fn new(protocol: P, endpoint: Arc<str>, max_unsent: usize, serves: bool) -> Self {
        let state = State {
            protocol,
            calls: IdMap::new(),
            seats: Slab::new(),
            driver: None,
            taken: 0,
            timed: None,
            short_of_room: false,
            leaving: false,
            broken: false,
        };
        Self { endpoint, max_unsent, serves, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // Protocols do not panic; if one did, its connection breaks by what it says next.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether calls may be put on it.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.lock();
        !state.leaving && !state.broken
    }

    /// Puts a call on it. `waker` is woken when its outcome is there; a call that wants no answer has none.
    pub(crate) fn open(
        &self,
        head: &RequestHead,
        body: &Bytes,
        waker: &Waker,
    ) -> Result<Option<Seat>, OpenError> {
        let mut state = self.lock();
        if state.leaving || state.broken {
            return Err(OpenError::GoingAway);
        }
        // Requests that leave together share a time: a look at the clock for each was a thirtieth of a call.
        if state.protocol.wants_time() && state.timed != Some(state.taken) {
            state.protocol.set_time(tokio::time::Instant::now().into_std());
            state.timed = Some(state.taken);
        }
        let id = match state.protocol.open(head, body, More::Done) {
            Ok(id) => id,
            Err(error) => {
                state.short_of_room |= error == OpenError::Full;
                state.leaving |= error == OpenError::GoingAway;
                return Err(error);
            }
        };
        let seat = head.wants_answer().then(|| {
            let waiter = Waiter { id, batch: state.taken, outcome: Outcome::Pending(waker.clone()) };
            let seat = state.seats.insert(waiter);
            state.calls.insert(id.0, seat);
            Seat(seat)
        });
        let driver = state.driver.take();
        drop(state); // the driver would only wait for it
        if let Some(driver) = driver {
            driver.wake();
        }
        Ok(seat)
    }

    /// The outcome of a call, once; until then `waker` is woken when it comes.
    pub(crate) fn poll_outcome(
        &self,
        seat: Seat,
        waker: &Waker,
    ) -> Poll<Result<Response<Bytes>, TransportError>> {
        let before; // dropped after the lock is free: a waker may own what it wakes
        let mut state = self.lock();
        match state.seats.get_mut(seat.0) {
            Some(Waiter { outcome: Outcome::Pending(known), .. }) => {
                if !known.will_wake(waker) {
                    before = std::mem::replace(known, waker.clone());
                    drop(state);
                    drop(before);
                }
                Poll::Pending
            }
            _ => match state.seats.try_remove(seat.0).map(|waiter| waiter.outcome) {
                Some(Outcome::Done(result)) => Poll::Ready(result),
                _ => Poll::Ready(Err(self.error(TransportErrorKind::Closed, Stage::Receive, Sent::Maybe))),
            },
        }
    }

    /// Gives a call up: its place is free at once.
    pub(crate) fn abandon(&self, seat: Seat) {
        let given_up; // dropped after the lock is free, as above
        let mut state = self.lock();
        given_up = state.seats.try_remove(seat.0);
        if let Some(Waiter { id, outcome: Outcome::Pending(_), .. }) = &given_up {
            state.calls.remove(id.0);
            state.protocol.reset(*id, Reason::Cancel);
            // The driver looks whether someone waits for the room, and whether the connection may end.
            let driver = state.driver.take();
            drop(state);
            if let Some(driver) = driver {
                driver.wake();
            }
        }
    }

    /// Takes no new calls, and ends when those on it are over.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.leaving = true;
        state.protocol.go_away();
        let driver = state.driver.take();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Hands in what was read.
    pub(crate) fn handle_input(
        &self,
        now: Instant,
        read: &mut BytesMut,
        handled: &mut Handled,
    ) -> Result<(), ConnectionError> {
        let mut state = self.lock();
        loop {
            let before = read.len();
            let result = state.protocol.handle_input(now, read);
            self.handle_events(&mut state, handled);
            // A protocol takes so many messages at once; taking their events makes room for more.
            if result.is_err() || read.is_empty() || read.len() == before || handled.full {
                return result;
            }
        }
    }

    /// Hands in that the peer sends no more.
    pub(crate) fn handle_eof(&self, unread: &[u8]) -> Result<(), ConnectionError> {
        let mut state = self.lock();
        state.leaving = true;
        state.protocol.handle_eof(unread)
    }

    /// Hands in that time has passed.
    pub(crate) fn handle_timeout(&self, now: Instant, handled: &mut Handled) -> Result<(), ConnectionError> {
        let mut state = self.lock();
        let result = state.protocol.handle_timeout(now);
        self.handle_events(&mut state, handled);
        result
    }

    fn handle_events(&self, state: &mut State<P>, handled: &mut Handled) {
        while let Some(event) = state.protocol.poll_event() {
            let (id, result) = match event {
                Event::Response { id, head, body, .. } => (id, Ok(Response { head, body })),
                Event::Reset { id, reason } => (id, Err(self.reset(reason))),
                Event::GoAway => {
                    state.leaving = true;
                    handled.went_away = true;
                    continue;
                }
                Event::Request { id, head, body, .. } => {
                    if self.serves {
                        handled.requests.push((id, head, body));
                    } else {
                        tracing::debug!(method = %head.method, "a call of the peer is not served here");
                        let status = Status::unimplemented(format!("unknown method {:?}", head.method));
                        let response = Response { head: ResponseHead::failed(status), body: Body::empty() };
                        reply(&mut state.protocol, id, response);
                    }
                    continue;
                }
                // A late answer means nothing where calls share a connection; streams have no takers here.
                _ => continue,
            };
            if let Some(seat) = state.calls.remove(id.0)
                && let Some(waiter) = state.seats.get_mut(seat)
                && let Outcome::Pending(waker) = std::mem::replace(&mut waiter.outcome, Outcome::Done(result))
            {
                handled.wake.push(waker);
            } else if self.serves {
                handled.over.push(id); // if it is a call of ours, nothing has its number here
            }
        }
        handled.made_room |= state.made_room();
        handled.full = state.protocol.unsent() > self.max_unsent;
    }

    /// Answers a call of the peer.
    pub(crate) fn reply(&self, id: CallId, response: Response<Body>) {
        reply(&mut self.lock().protocol, id, response);
    }

    /// Moves what is to be written into `out`, or lets the driver rest.
    pub(crate) fn next(&self, out: &mut WriteBuf, waker: &Waker) -> Next {
        let mut state = self.lock();
        if state.protocol.poll_output(out) {
            state.taken += 1;
            return Next::Write { made_room: state.made_room() };
        }
        if state.leaving && state.protocol.in_flight() == 0 {
            return Next::End;
        }
        state.driver = Some(waker.clone());
        Next::Rest(state.protocol.poll_timeout())
    }

    /// Lets the driver rest though there may be something to write. It is woken by new calls, since those may have
    /// earlier deadlines.
    pub(crate) fn rest(&self, waker: &Waker) -> Option<Instant> {
        let mut state = self.lock();
        state.driver = Some(waker.clone());
        state.protocol.poll_timeout()
    }

    /// Whether a call found no room and there is some now.
    pub(crate) fn made_room(&self) -> bool {
        self.lock().made_room()
    }

    /// Ends it: every call that waits gets an error.
    pub(crate) fn fail(&self, cause: Arc<Cause>) -> Vec<Waker> {
        let mut state = self.lock();
        state.broken = true;
        let taken = state.taken;
        let mut wake = Vec::new();
        for (_, waiter) in &mut state.seats {
            if matches!(waiter.outcome, Outcome::Done(_)) {
                continue;
            }
            let (stage, sent) =
                if waiter.batch < taken { (Stage::Receive, Sent::Maybe) } else { (Stage::Send, Sent::No) };
            let error = self.error(cause.kind, stage, sent).because(Shared(cause.clone()));
            if let Outcome::Pending(waker) = std::mem::replace(&mut waiter.outcome, Outcome::Done(Err(error)))
            {
                wake.push(waker);
            }
        }
        wake
    }

    /// Calls that wait for their answers, and answers that wait for their callers.
    pub(crate) fn count(&self) -> (usize, usize) {
        let state = self.lock();
        let done =
            state.seats.iter().filter(|(_, waiter)| matches!(waiter.outcome, Outcome::Done(_))).count();
        (if state.broken { 0 } else { state.calls.len() }, done)
    }

    /// The error of a call that is over before its answer. Its request can not be taken back: what has not left yet will.
    fn reset(&self, reason: Reason) -> TransportError {
        match reason {
            Reason::Deadline => self.error(TransportErrorKind::Deadline, Stage::Receive, Sent::Maybe),
            Reason::Cancel => self.error(TransportErrorKind::Cancelled, Stage::Receive, Sent::Maybe),
            Reason::Refused => self.error(TransportErrorKind::ShuttingDown, Stage::Receive, Sent::No),
            Reason::Protocol => self
                .error(TransportErrorKind::Protocol, Stage::Receive, Sent::Yes)
                .because("the answer is to another method"),
        }
    }

    pub(crate) fn error(&self, kind: TransportErrorKind, stage: Stage, sent: Sent) -> TransportError {
        TransportError::new(kind, stage, sent).at(self.endpoint.clone())
    }
}

/// Why a connection broke, for all calls that were on it.
#[derive(Debug)]
pub(crate) struct Cause {
    kind: TransportErrorKind,
    error: BoxError,
}

impl Cause {
    pub(crate) fn closed(error: impl Into<BoxError>) -> Arc<Self> {
        Arc::new(Self { kind: TransportErrorKind::Closed, error: error.into() })
    }

    pub(crate) fn lost(error: io::Error) -> Arc<Self> {
        Self::closed(error)
    }

    pub(crate) fn broken(error: ConnectionError) -> Arc<Self> {
        use rpc_wire::ConnectionErrorKind::{TooLarge, Truncated, Unresponsive};
        let kind = match error.kind() {
            Truncated | Unresponsive => TransportErrorKind::Closed,
            TooLarge => TransportErrorKind::TooLarge,
            _ => TransportErrorKind::Protocol,
        };
        Arc::new(Self { kind, error: error.into() })
    }
}

/// An error that many calls share.
#[derive(Debug)]
struct Shared(Arc<Cause>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.error.fmt(f)
    }
}

impl std::error::Error for Shared {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.error.source()
    }
}
