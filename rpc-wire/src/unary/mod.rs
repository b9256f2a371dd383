//! The engine that all framings share: which calls are in flight, whose answer is whose, in which order answers leave,
//! what is too much, and when time is up.
//!
//! - `outgoing`: calls that this side made.
//! - `incoming`: calls that the peer made.
//! - `make`: what makes an engine of each framing.

mod incoming;
mod make;
mod outgoing;

use std::collections::VecDeque;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{RequestHead, ResponseHead, Status};

use self::incoming::{Arrival, Incoming};
use self::outgoing::{Answered, Outgoing};
use crate::{
    CallError, CallId, ConnectionError, ConnectionErrorKind, Event, Frame, FrameError, Framing, Limits, More,
    OpenError, Order, Protocol, Reason, WriteBuf,
};

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// A protocol of single messages, made of any framing. See [`Protocol`] for how to drive it.
#[derive(Debug)]
pub struct Unary<F: Framing> {
    framing: F,
    limits: Limits,
    side: Side,
    outgoing: Outgoing,
    incoming: Incoming<F::Mirror>,
    events: VecDeque<Queued<F::Mirror>>,
    /// Requests among `events`, and their bytes.
    queued_requests: usize,
    queued_bytes: usize,
    out: WriteBuf,
    going_away: bool,
    peer_going_away: bool,
}

/// What waits for `poll_event`. A request enters the table of calls when it is taken, so that one that is answered at once
/// meets an empty table.
#[derive(Debug)]
enum Queued<M> {
    Request(Arrival<M>),
    Event(Event),
}

impl<F: Framing> Unary<F> {
    /// The client's side. `first_id` is where ids begin; 0 counts as 1, since no call has the id 0.
    pub fn client(mut framing: F, limits: Limits, first_id: CallId) -> Self {
        if limits.max_in_flight <= 1 {
            framing.one_at_a_time();
        }
        Self::new(framing, limits, Side::Client, first_id)
    }

    /// The server's side.
    pub fn server(framing: F, limits: Limits) -> Self {
        Self::new(framing, limits, Side::Server, CallId(1))
    }

    fn new(framing: F, limits: Limits, side: Side, first_id: CallId) -> Self {
        let ordered = limits.ordered || F::ORDER == Order::InOrder;
        Self {
            framing,
            side,
            outgoing: Outgoing::new(first_id.0, F::ORDER),
            incoming: Incoming::new(ordered),
            limits,
            events: VecDeque::new(),
            queued_requests: 0,
            queued_bytes: 0,
            out: WriteBuf::new(),
            going_away: false,
            peer_going_away: false,
        }
    }

    /// How many more requests may be taken from the peer.
    fn room_for_requests(&self) -> usize {
        if self.incoming.bytes() + self.queued_bytes >= self.limits.max_in_flight_bytes.max(1) {
            return 0;
        }
        self.limits.max_in_flight.saturating_sub(self.incoming.len() + self.queued_requests)
    }

    /// How many more calls may be made here.
    fn room_for_calls(&self) -> usize {
        match F::ORDER {
            Order::ById if self.out.len() >= self.limits.max_unsent.max(1) => 0,
            Order::ById => self.limits.max_in_flight.saturating_sub(self.outgoing.live()),
            Order::InOrder => usize::from(self.outgoing.is_empty()),
        }
    }

    /// Whether to read on though no more requests can be taken: answers that are waited for may stand behind them. Those
    /// that are too many are refused then.
    fn reads_answers(&self) -> bool {
        F::SYMMETRIC && (self.side == Side::Client || self.outgoing.live() > 0)
    }

    /// Handles a frame of so many bytes.
    fn handle_frame(
        &mut self,
        now: Instant,
        frame: Frame<F::Mirror>,
        size: usize,
    ) -> Result<(), ConnectionError> {
        match frame {
            Frame::Request { .. } | Frame::Refused { .. } if self.side == Side::Client && !F::SYMMETRIC => {
                Err(ConnectionError::new(ConnectionErrorKind::Malformed, "a request came to a client"))
            }
            Frame::Request { id, head, body, answer, mirror } => {
                let refused = if self.going_away && !self.framing.says_that_it_goes() {
                    Some(Status::unavailable("shutting down, not executed"))
                } else if F::SYMMETRIC && self.room_for_requests() == 0 {
                    Some(Status::resource_exhausted("too many calls in flight, not executed"))
                } else {
                    None
                };
                self.queue(Arrival { id, head, body, answer, mirror, refused, size });
                Ok(())
            }
            Frame::Refused { id, status, mirror } => {
                self.queue(Arrival::refused(id, status, mirror, size));
                Ok(())
            }
            Frame::Response { id, method, head, body } => {
                // No call has the id 0, but servers and proxies may fail one before they know its id.
                let id =
                    id.filter(|id| *id != 0 || head.status.is_ok()).or_else(|| self.outgoing.only().or(id));
                match self.outgoing.answer(id, method.as_deref()) {
                    // Where the peer knows of the deadline it may say that it is over, in a protocol that has no word for
                    // that.
                    Answered::Live(id, Some(deadline)) if head.status.is_err() && deadline <= now => {
                        self.push(Event::Reset { id, reason: Reason::Deadline });
                    }
                    Answered::Live(id, _) => {
                        self.push(Event::Response { id, head, body, more: More::Done });
                    }
                    Answered::WrongMethod(id) => self.push(Event::Reset { id, reason: Reason::Protocol }),
                    Answered::Abandoned => {}
                    Answered::Unknown if self.side == Side::Server && !F::SYMMETRIC => {
                        let detail = "invalid message type: a response came to a server";
                        return Err(ConnectionError::new(ConnectionErrorKind::Malformed, detail));
                    }
                    Answered::Unknown => self.push(Event::Stray),
                }
                Ok(())
            }
            Frame::GoAway => {
                self.peer_going_away = true;
                self.push(Event::GoAway);
                Ok(())
            }
            Frame::Last(frame) => {
                self.handle_frame(now, *frame, size)?;
                self.handle_frame(now, Frame::GoAway, 0)
            }
            Frame::Ignored => Ok(()),
        }
    }

    fn queue(&mut self, arrival: Arrival<F::Mirror>) {
        self.queued_requests += 1;
        self.queued_bytes += arrival.size;
        self.events.push_back(Queued::Request(arrival));
    }

    fn push(&mut self, event: Event) {
        self.events.push_back(Queued::Event(event));
    }

    fn check_responsive(&self) -> Result<(), ConnectionError> {
        let abandoned = self.outgoing.abandoned();
        if abandoned > self.limits.max_abandoned {
            let detail = format!("{abandoned} calls that were given up are still unanswered");
            return Err(ConnectionError::new(ConnectionErrorKind::Unresponsive, detail));
        }
        Ok(())
    }

    /// Appends an answer, or nothing.
    fn write_answer(
        &mut self,
        mirror: &F::Mirror,
        head: &ResponseHead,
        body: &Bytes,
    ) -> Result<(), CallError> {
        let mark = self.out.mark();
        let limit = self.limits.max_message;
        let result = match self.framing.encode_response(mirror, head, body, &mut self.out) {
            Ok(()) => match self.out.since(mark).saturating_sub(F::PREFIX) {
                size if size <= limit => return Ok(()),
                size => Err(CallError::TooLarge { size, limit }),
            },
            Err(FrameError::Unsupported(detail)) => Err(CallError::Unsupported(detail)),
            Err(FrameError::Connection(error)) => Err(CallError::Unsupported(error.to_string().into())),
        };
        self.out.rollback(mark);
        result
    }

    /// Appends an answer that had to wait. Nobody is left to hear that it can not be written, so the peer gets a failure.
    fn write_held(&mut self, mirror: &F::Mirror, head: &ResponseHead, body: &Bytes) {
        if let Err(error) = self.write_answer(mirror, head, body) {
            let failure =
                ResponseHead::failed(Status::internal(format!("the answer can not be sent: {error}")));
            // A status of a few words fits everywhere; if a framing has no failures at all, the peer waits in vain.
            let _ = self.write_answer(mirror, &failure, &Bytes::new());
        }
    }

    /// Writes the answer of a call, and those that waited for it.
    fn answer(&mut self, id: CallId, head: &ResponseHead, body: &Bytes) -> Result<(), CallError> {
        if !self.incoming.contains(id) {
            return Err(CallError::Unknown);
        }
        if !self.incoming.is_next(id) {
            // Those before it with the same id must leave first.
            if body.len() > self.limits.max_message {
                return Err(CallError::TooLarge { size: body.len(), limit: self.limits.max_message });
            }
            self.incoming.hold(id, head.clone(), body.clone());
            return Ok(());
        }
        if let Some(mirror) = self.incoming.take_mirror(id)
            && let Err(error) = self.write_answer(&mirror, head, body)
        {
            self.incoming.put_mirror(id, mirror);
            return Err(error);
        }
        let mut next = self.incoming.remove(id);
        while let Some(id) = next.filter(|id| self.incoming.is_held(*id)) {
            if let (Some((head, body)), Some(mirror)) =
                (self.incoming.take_held(id), self.incoming.take_mirror(id))
            {
                self.write_held(&mirror, &head, &body);
            }
            next = self.incoming.remove(id);
        }
        Ok(())
    }
}

impl<F: Framing> Protocol for Unary<F> {
    fn handle_input(&mut self, now: Instant, src: &mut BytesMut) -> Result<(), ConnectionError> {
        self.check_responsive()?;
        if F::TIMED {
            self.framing.set_time(now);
        }
        while !src.is_empty() && (self.room_for_requests() > 0 || self.reads_answers()) {
            let before = src.len();
            match self.framing.decode(src, self.limits.max_message) {
                Ok(Some(frame)) => self.handle_frame(now, frame, before.saturating_sub(src.len()))?,
                Ok(None) => break,
                Err(FrameError::Connection(error)) => return Err(error),
                Err(FrameError::Unsupported(detail)) => {
                    return Err(ConnectionError::new(ConnectionErrorKind::Malformed, detail));
                }
            }
        }
        Ok(())
    }

    fn handle_eof(&mut self, unread: &[u8]) -> Result<(), ConnectionError> {
        self.peer_going_away = true;
        if unread.is_empty() {
            return Ok(());
        }
        let detail =
            format!("the peer closed the connection inside a message, {} bytes into it", unread.len());
        Err(ConnectionError::new(ConnectionErrorKind::Truncated, detail))
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), ConnectionError> {
        for id in self.outgoing.expire(now) {
            self.push(Event::Reset { id, reason: Reason::Deadline });
        }
        for id in self.incoming.expire(now) {
            // Before requests that wait to be taken, since one of them may get the number that is free now.
            self.events.push_front(Queued::Event(Event::Reset { id, reason: Reason::Deadline }));
            let failure = ResponseHead::failed(Status::deadline_exceeded("the caller's time was up"));
            // It is in the table, so the only failure is a framing without failures: then there is nothing to say.
            let _ = self.answer(id, &failure, &Bytes::new());
        }
        self.check_responsive()
    }

    fn wants_time(&self) -> bool {
        F::TIMED
    }

    fn set_time(&mut self, now: Instant) {
        self.framing.set_time(now);
    }

    fn open(&mut self, head: &RequestHead, body: &Bytes, more: More) -> Result<CallId, OpenError> {
        if more == More::Streaming {
            return Err(OpenError::Unsupported("the protocol has no streams".into()));
        }
        // A server's handlers may need calls of their own to finish what it took before it began to stop.
        if (self.going_away && self.side == Side::Client) || self.peer_going_away {
            return Err(OpenError::GoingAway);
        }
        if self.room_for_calls() == 0 {
            return Err(OpenError::Full);
        }
        let id = self.outgoing.next_id();
        let mark = self.out.mark();
        let limit = self.limits.max_message;
        let failure = match self.framing.encode_request(id, head, body, &mut self.out) {
            Ok(()) => match self.out.since(mark).saturating_sub(F::PREFIX) {
                size if size <= limit => None,
                size => Some(OpenError::TooLarge { size, limit }),
            },
            Err(FrameError::Unsupported(detail)) => Some(OpenError::Unsupported(detail)),
            Err(FrameError::Connection(error)) => Some(OpenError::Unsupported(error.to_string().into())),
        };
        if let Some(error) = failure {
            self.out.rollback(mark);
            return Err(error);
        }
        if head.wants_answer() {
            self.outgoing.insert(id, head);
        }
        Ok(CallId(id))
    }

    fn reply(&mut self, id: CallId, head: &ResponseHead, body: &Bytes, more: More) -> Result<(), CallError> {
        if more == More::Streaming {
            return Err(CallError::Unsupported("the protocol has no streams".into()));
        }
        self.answer(id, head, body)
    }

    fn reset(&mut self, id: CallId, _: Reason) {
        // On a client these protocols have no word for it: the answer will come, and its id stays taken until it does.
        if self.outgoing.abandon(id) {
            return;
        }
        // A server owes its peer an answer all the same.
        let failure = ResponseHead::failed(Status::cancelled("the call was broken off"));
        let _ = self.answer(id, &failure, &Bytes::new());
    }

    fn go_away(&mut self) {
        let told = std::mem::replace(&mut self.going_away, true);
        if self.side == Side::Server && !told {
            self.framing.go_away(&mut self.out);
        }
    }

    fn may_be_crossed(&self) -> bool {
        self.side == Side::Server && self.going_away && self.framing.says_that_it_goes()
    }

    fn capacity(&self) -> usize {
        match self.side {
            Side::Server => self.room_for_requests(),
            Side::Client => self.room_for_calls(),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        loop {
            match self.events.pop_front()? {
                Queued::Event(event) => return Some(event),
                Queued::Request(arrival) => {
                    self.queued_requests -= 1;
                    self.queued_bytes -= arrival.size;
                    let (event, refused) = self.incoming.insert(arrival);
                    match (refused, &event) {
                        (Some(status), Event::Request { id, .. }) => {
                            // In the table since it must wait for its turn like any other.
                            let _ = self.answer(*id, &ResponseHead::failed(status), &Bytes::new());
                        }
                        _ => return Some(event),
                    }
                }
            }
        }
    }

    fn poll_output(&mut self, dst: &mut WriteBuf) -> bool {
        if self.out.is_empty() {
            return false;
        }
        self.out.move_into(dst);
        true
    }

    fn unsent(&self) -> usize {
        self.out.len() + self.incoming.held_bytes()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match (self.outgoing.wake(), self.incoming.wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn release_memory(&mut self) {
        self.out.release();
        self.events.shrink_to_fit();
    }

    fn in_flight(&self) -> usize {
        self.outgoing.live() + self.incoming.len() + self.queued_requests
    }

    fn is_clean(&self, unread: &[u8]) -> bool {
        unread.is_empty()
            && self.outgoing.is_empty()
            && self.incoming.len() == 0
            && self.events.is_empty()
            && self.out.is_empty()
            && !self.going_away
            && !self.peer_going_away
    }
}

#[cfg(test)]
mod tests;
