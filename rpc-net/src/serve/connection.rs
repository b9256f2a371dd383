use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{
    Body, BoxError, Origin, Request, RequestHead, Response, Sent, Stage, TransportError, TransportErrorKind,
    is_disconnect,
};
use rpc_wire::{CallId, ConnectionError, ConnectionErrorKind, Event, Protocol, Reason, WriteBuf};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tower::Service;

use super::Accepted;
use super::calls::Calls;
use super::handlers::{Handlers, reply};
use super::patience::{Patience, now};
use crate::io::{ConnectionTimer, poll_fill, poll_flush_buf, release_if_idle};

/// The driver: reads a chunk, cuts all its messages, polls each handler once where it stands, writes the answers of those
/// that were ready in one go. Only a handler that was not ready is kept.
pub(super) struct Connection<'a, Io, P, S: Service<Request<Body>>> {
    io: Io,
    protocol: P,
    handlers: Handlers<S>,
    /// What handlers call the peer by, where it takes calls.
    calls: Option<Box<Calls>>,
    stop: Option<Pin<&'a mut WaitForCancellationFutureOwned>>,
    read: BytesMut,
    out: WriteBuf,
    written: u64,
    /// What came in was left for later, since too much waits to be written.
    postponed: bool,
    timer: ConnectionTimer,
    origin: Arc<Origin>,
    write_budget: usize,
    patience: Patience,
    in_flight: Counter,
    /// The peer closed its side.
    ended: bool,
    /// All that came before that was taken.
    drained: bool,
}

/// How much is read of a peer of which nothing can be taken, in bytes: to notice that it goes.
const READ_AHEAD: usize = 64 * 1024;

impl<'a, Io, P, S> Connection<'a, Io, P, S>
where
    Io: AsyncRead + AsyncWrite + Unpin,
    P: Protocol,
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>,
{
    pub(super) fn new(
        accepted: Accepted<Io>,
        protocol: P,
        service: S,
        calls: Option<Calls>,
        stop: Pin<&'a mut WaitForCancellationFutureOwned>,
    ) -> Self {
        Self {
            io: accepted.io,
            protocol,
            handlers: Handlers::new(service),
            calls: calls.map(Box::new),
            stop: Some(stop),
            read: accepted.read,
            out: WriteBuf::new(),
            written: 0,
            postponed: false,
            timer: ConnectionTimer::default(),
            origin: accepted.origin,
            write_budget: accepted.write_budget,
            patience: Patience::new(accepted.stall_timeout),
            in_flight: Counter { all: accepted.in_flight, mine: 0 },
            ended: false,
            drained: false,
        }
    }

    pub(super) fn poll_drive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        if let Some(stop) = &mut self.stop
            && stop.as_mut().poll(cx).is_ready()
        {
            self.stop = None;
            self.protocol.go_away();
            if self.protocol.may_be_crossed() {
                self.patience.may_be_crossed();
            }
        }
        // What wakes a connection is most often its peer.
        let mut starved = self.read.is_empty() && self.may_read() && self.poll_read(cx)?.is_pending();
        loop {
            self.poll_running(cx);
            self.handle_input(cx)?;
            self.poll_calls(cx);
            if self.timer.poll(cx, self.wake_at()).is_ready() {
                let now = now();
                self.check_patience(now)?;
                let handled = self.protocol.handle_timeout(now);
                handled.map_err(|error| self.broken(error))?;
                self.handle_events(cx);
                continue;
            }
            if self.out.is_empty() {
                self.protocol.poll_output(&mut self.out);
            }
            let flushed = poll_flush_buf(&mut self.io, cx, &mut self.out, &mut self.written);
            if let Poll::Ready(Err(error)) = flushed {
                return Poll::Ready(Err(self.lost(error)));
            }
            if self.patience.writes(flushed.is_pending(), self.written) {
                continue; // so that the timer knows
            }
            if flushed.is_ready() && (self.protocol.poll_output(&mut self.out) || self.may_resume()) {
                continue;
            }
            self.in_flight.set(self.protocol.in_flight().saturating_sub(self.calls_open()));
            if self.is_done() && flushed.is_ready() {
                ready!(Pin::new(&mut self.io).poll_shutdown(cx)).ok(); // the peer may be gone, which is as good
                return Poll::Ready(Ok(()));
            }
            if !self.may_read() {
                self.patience.expects_nothing(); // it is not the peer who holds it up
                if starved || !self.may_listen() || self.poll_read(cx)?.is_pending() {
                    release_if_idle(&mut self.read);
                    return Poll::Pending;
                }
                continue;
            }
            starved = starved || self.poll_read(cx)?.is_pending();
            if starved {
                release_if_idle(&mut self.read);
                if self.patience.rests() {
                    continue; // so that the timer knows
                }
                return Poll::Pending;
            }
        }
    }

    /// Reads once. Pending when there is nothing to read.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        match ready!(poll_fill(&mut self.io, cx, &mut self.read)) {
            Ok(0) => {
                self.ended = true;
                self.cancel_unheard();
            }
            Ok(_) => self.patience.heard(),
            Err(error) => return Poll::Ready(Err(self.lost(error))),
        }
        Poll::Ready(Ok(()))
    }

    /// Closes the connection. Handlers that answer nothing are left, with their part of the count of calls: they finish their
    /// work.
    pub(super) fn into_oneway(self) -> (Handlers<S>, Counter) {
        let Self { mut handlers, in_flight, .. } = self;
        handlers.keep_oneway();
        (handlers, in_flight)
    }

    /// Whether more may be taken from the peer: it reads what it is sent, and a handler can be started for it.
    fn may_read(&self) -> bool {
        !self.ended
            && !self.is_over_budget()
            && self.may_take()
            && (self.handlers.is_ready() || self.calls_open() > 0)
    }

    /// Whether the protocol takes something from what came in. While handlers wait for the peer's answers it does, and refuses
    /// the requests before those for which there is no room.
    fn may_take(&self) -> bool {
        self.protocol.capacity() > 0 || self.calls_open() > 0
    }

    /// How many calls to the peer wait for their answers.
    fn calls_open(&self) -> usize {
        self.calls.as_ref().map_or(0, |calls| calls.len())
    }

    /// Whether to read on although nothing more can be taken. A peer that has answers to read shows by that whether it is there.
    fn may_listen(&self) -> bool {
        !self.ended && self.out.is_empty() && self.read.len() < READ_AHEAD
    }

    /// Whether as much waits to be written as may. Then nothing new is taken; handlers that run go on, since what is held
    /// behind their answers waits for them.
    fn is_over_budget(&self) -> bool {
        let waiting = self.out.len() + self.protocol.unsent();
        waiting > 0 && waiting >= self.write_budget
    }

    /// Whether what was left for later can be taken now.
    fn may_resume(&mut self) -> bool {
        !self.is_over_budget() && std::mem::take(&mut self.postponed)
    }

    /// Whether nothing is left to do: the peer or this side ends the connection, and all calls are answered.
    fn is_done(&self) -> bool {
        let stops = self.stop.is_none() && !self.patience.is_crossed();
        (self.drained || stops) && self.protocol.in_flight() == 0 && self.out.is_empty()
    }

    fn handle_input(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError> {
        // Once more after the events, since those may have made room for messages that were left unread.
        loop {
            self.handle_events(cx);
            let before = self.read.len();
            if self.is_held_up() || self.is_over_budget() {
                return Ok(());
            }
            if before == 0 {
                return self.handle_end();
            }
            let now = now();
            let result = self.protocol.handle_input(now, &mut self.read);
            if self.read.is_empty() || !self.may_take() {
                self.patience.expects_nothing();
            } else {
                self.patience.expects_rest(now, self.read.len() < before);
            }
            self.handle_events(cx);
            if let Err(error) = result {
                // What was answered before the fault should still reach the peer.
                self.protocol.poll_output(&mut self.out);
                let _ = poll_flush_buf(&mut self.io, cx, &mut self.out, &mut self.written);
                return Err(self.broken(error));
            }
            if self.read.is_empty() || self.read.len() == before {
                return self.handle_end();
            }
        }
    }

    /// Tells the protocol that the peer closed its side, once nothing whole is left of what it sent before.
    fn handle_end(&mut self) -> Result<(), TransportError> {
        let taken = self.read.is_empty() || self.may_take();
        if !self.ended || self.drained || !taken {
            return Ok(());
        }
        self.drained = true;
        if let Some(calls) = &mut self.calls {
            calls.close(|id| self.protocol.reset(id, Reason::Cancel));
        }
        let unread = std::mem::take(&mut self.read);
        self.protocol.handle_eof(&unread).map_err(|error| self.broken(error))
    }

    fn wake_at(&self) -> Option<Instant> {
        [self.protocol.poll_timeout(), self.patience.wake_at()].into_iter().flatten().min()
    }

    /// Ends a connection whose peer takes too long, and gives the memory of an idle one back.
    fn check_patience(&mut self, now: Instant) -> Result<(), TransportError> {
        if let Some(what) = self.patience.exhausted(now) {
            let kind = TransportErrorKind::Protocol;
            return Err(TransportError::new(kind, Stage::Serve, Sent::Maybe).because(what));
        }
        self.patience.end_crossing(now);
        if self.patience.is_idle(now) {
            self.out.release();
            self.protocol.release_memory();
            self.handlers.release_memory();
        }
        Ok(())
    }

    /// The peer closed its side, and so is taken to be gone: the handlers whose answers it waited for are dropped. One that
    /// closed that side alone is told so. Handlers that answer nothing finish their work, and those that still wait begin it.
    fn cancel_unheard(&mut self) {
        for id in self.handlers.cancel_answering() {
            self.protocol.reset(id, Reason::Cancel);
        }
    }

    fn handle_events(&mut self, cx: &mut Context<'_>) {
        while let Some((id, response)) = self.handlers.resume(cx) {
            self.started(cx, id, response);
        }
        let mut over = Vec::new();
        while !self.is_held_up() {
            // One chunk of small requests may ask for answers that are a thousand times as large.
            if self.is_over_budget() {
                self.postponed = true;
                break;
            }
            match self.protocol.poll_event() {
                None => break,
                Some(Event::Request { id, head, .. }) if self.ended && head.wants_answer() => {
                    self.protocol.reset(id, Reason::Cancel);
                }
                Some(Event::Request { id, head, body, .. }) => {
                    self.handlers.cancel(&mut over); // before their numbers are given to others
                    self.start(cx, id, head, body);
                }
                Some(Event::Reset { id, reason }) => {
                    if !self.calls.as_mut().is_some_and(|calls| calls.reset(id, reason)) {
                        over.push(id);
                    }
                }
                Some(Event::Response { id, head, body, .. }) => {
                    if let Some(calls) = &mut self.calls {
                        calls.answer(id, head, body);
                    }
                }
                // Nothing else concerns a server.
                Some(_) => {}
            }
        }
        self.handlers.cancel(&mut over);
    }

    /// Whether a request that waits for the service holds up what is behind it. While handlers wait for answers of the peer,
    /// those may be behind it, so that it holds up only other requests.
    fn is_held_up(&self) -> bool {
        !self.handlers.is_ready() && self.calls_open() == 0
    }

    /// Starts a handler and polls it once.
    fn start(&mut self, cx: &mut Context<'_>, id: CallId, mut head: RequestHead, body: Bytes) {
        head.origin = Some(self.origin.clone());
        let response = self.handlers.start(cx, id, head, body);
        self.started(cx, id, response);
    }

    fn started(&mut self, cx: &mut Context<'_>, id: CallId, response: Option<Response<Body>>) {
        match response {
            Some(response) => self.reply(id, response),
            None => self.poll_running(cx),
        }
    }

    fn poll_running(&mut self, cx: &mut Context<'_>) {
        while !self.handlers.is_empty() {
            match self.handlers.poll(cx) {
                Poll::Ready(Some((id, response))) => self.reply(id, response),
                Poll::Ready(None) | Poll::Pending => return,
            }
        }
    }

    /// Puts the calls of handlers on the connection. One that stops takes those alone that its handlers may need to finish.
    fn poll_calls(&mut self, cx: &mut Context<'_>) {
        if let Some(calls) = &mut self.calls {
            calls.poll(cx, &mut self.protocol, self.stop.is_none() && self.handlers.is_empty());
        }
    }

    fn reply(&mut self, id: CallId, response: Response<Body>) {
        reply(&mut self.protocol, id, response);
    }

    fn broken(&self, error: ConnectionError) -> TransportError {
        // A peer that goes in the middle of a message is lost; it broke no rule.
        let kind = match error.kind() {
            ConnectionErrorKind::Truncated => TransportErrorKind::Closed,
            _ => TransportErrorKind::Protocol,
        };
        TransportError::new(kind, Stage::Serve, Sent::Maybe).because(error)
    }

    fn lost(&self, error: io::Error) -> TransportError {
        let kind =
            if is_disconnect(&error) { TransportErrorKind::Closed } else { TransportErrorKind::Connect };
        TransportError::new(kind, Stage::Serve, Sent::Maybe).because(error)
    }
}

impl<Io, P, S: Service<Request<Body>>> fmt::Debug for Connection<'_, Io, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// This connection's part of a count that all share.
pub(super) struct Counter {
    all: Arc<AtomicUsize>,
    mine: usize,
}

impl Counter {
    pub(super) fn set(&mut self, count: usize) {
        if count > self.mine {
            self.all.fetch_add(count - self.mine, Ordering::Relaxed);
        } else if count < self.mine {
            self.all.fetch_sub(self.mine - count, Ordering::Relaxed);
        }
        self.mine = count;
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.set(0);
    }
}
