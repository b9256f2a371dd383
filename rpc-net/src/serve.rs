//! One connection of a server.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::{FuturesUnordered, Stream as _, StreamExt as _};
use rpc_core::{
    Body, BoxError, CodecSet, Origin, Request, RequestHead, Response, ResponseHead, Sent, Stage, Status,
    TransportError, TransportErrorKind, is_disconnect,
};
use rpc_wire::{
    CallError, CallId, ConnectionError, ConnectionErrorKind, Detect, Event, Limits, MakeProtocol, More,
    Protocol, Reason, WriteBuf,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower::Service;

use crate::io::{ConnectionTimer, poll_fill, poll_flush_buf, release_if_idle};

/// A protocol that can serve a connection. Every [`MakeProtocol`] is one; a protocol with an engine of its own implements it
/// for its own type.
pub trait Serve: Clone + Send + Sync + 'static {
    /// What payloads it carries: `Server::accept` infers from it what a service must be able to speak.
    type Codecs: CodecSet;

    /// The name in traces, and of [`rpc_core::Context::protocol`].
    fn name(&self) -> &'static str;

    /// Whether a connection that begins with these bytes speaks this protocol, told by the fewest bytes that suffice.
    fn detect(&self, first: &[u8]) -> Detect;

    /// The codecs, as the protocol configures them: services are served in these.
    fn codecs(&self) -> Self::Codecs;

    /// Serves one connection until it ends, or until it is drained after [`Accepted::stop`].
    ///
    /// # Errors
    /// When the connection breaks or the peer breaks the protocol. A peer that closes between messages is no error.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection and drops all its handlers.
    fn serve<Io, S>(
        &self,
        accepted: Accepted<Io>,
        service: S,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + use<Self, Io, S>
    where
        Io: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static;
}

/// A connection that was accepted, with what a server knows of it.
#[derive(Debug)]
pub struct Accepted<Io> {
    /// The connection.
    pub io: Io,
    /// What was read from it already.
    pub read: BytesMut,
    /// Where it comes from.
    pub origin: Arc<Origin>,
    /// Cancelled when no new calls are to be taken: those in flight are finished and answered, then the connection ends.
    pub stop: CancellationToken,
    /// What it may do.
    pub limits: Limits,
    /// How many bytes of answers may wait for a peer that does not read, before no more of its requests are taken.
    pub write_budget: usize,
    /// How long a message may take from its first byte to its last, and how long a peer may leave answers unread.
    pub stall_timeout: Duration,
    /// Counts the calls that are being served.
    pub in_flight: Arc<AtomicUsize>,
}

impl<P: MakeProtocol> Serve for P {
    type Codecs = P::Codecs;

    fn name(&self) -> &'static str {
        MakeProtocol::name(self)
    }

    fn detect(&self, first: &[u8]) -> Detect {
        MakeProtocol::detect(self, first)
    }

    fn codecs(&self) -> P::Codecs {
        MakeProtocol::codecs(self)
    }

    fn serve<Io, S>(
        &self,
        accepted: Accepted<Io>,
        service: S,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + use<Io, S, P>
    where
        Io: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        let protocol = self.server(&accepted.limits);
        async move {
            let stop = pin!(accepted.stop.clone().cancelled_owned());
            let mut connection = Connection::new(accepted, protocol, service, stop);
            let result = std::future::poll_fn(|cx| connection.poll_drive(cx)).await;
            let oneway: FuturesUnordered<_> =
                connection.running.into_iter().filter(|call| call.oneway).collect();
            if !oneway.is_empty() {
                // Their callers never wait for them, so a connection that breaks after its last request is no reason to stop.
                tokio::spawn(oneway.for_each(|_| std::future::ready(())));
            }
            result
        }
    }
}

/// The driver: reads a chunk, cuts all its messages, polls each handler once where it stands, writes the answers of those
/// that were ready in one go. Only a handler that was not ready is kept.
struct Connection<'a, Io, P, S: Service<Request<Body>>> {
    io: Io,
    protocol: P,
    service: S,
    stop: Option<Pin<&'a mut WaitForCancellationFutureOwned>>,
    read: BytesMut,
    out: WriteBuf,
    written: u64,
    /// Bytes of answers that the protocol was given since its output was last taken.
    answered: usize,
    /// What came in was left for later, since too much waits to be written.
    postponed: bool,
    /// A request that waits for the service to be ready, and holds up those after it.
    held: Option<(CallId, RequestHead, Bytes)>,
    /// Where the next handler is polled; its memory is used again and again.
    slot: Option<Pin<Box<Option<S::Future>>>>,
    running: FuturesUnordered<Running<S::Future>>,
    timer: ConnectionTimer,
    origin: Arc<Origin>,
    write_budget: usize,
    stall_timeout: Duration,
    /// When the part of a message that was read has to be whole.
    message_due: Option<std::time::Instant>,
    /// When some of what waits to be written has to be taken, and how much was written when that was set.
    write_due: Option<(std::time::Instant, u64)>,
    idle: Idle,
    /// Something was read since that was last looked at: noted without a look at the clock.
    heard: bool,
    in_flight: Counter,
    ended: bool,
}

impl<'a, Io, P, S> Connection<'a, Io, P, S>
where
    Io: AsyncRead + AsyncWrite + Unpin,
    P: Protocol,
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>,
{
    fn new(
        accepted: Accepted<Io>,
        protocol: P,
        service: S,
        stop: Pin<&'a mut WaitForCancellationFutureOwned>,
    ) -> Self {
        Self {
            io: accepted.io,
            protocol,
            service,
            stop: Some(stop),
            read: accepted.read,
            out: WriteBuf::new(),
            written: 0,
            answered: 0,
            postponed: false,
            held: None,
            slot: None,
            running: FuturesUnordered::new(),
            timer: ConnectionTimer::default(),
            origin: accepted.origin,
            write_budget: accepted.write_budget,
            stall_timeout: accepted.stall_timeout,
            message_due: None,
            write_due: None,
            idle: Idle::No,
            heard: false,
            in_flight: Counter { all: accepted.in_flight, mine: 0 },
            ended: false,
        }
    }

    fn poll_drive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        if let Some(stop) = &mut self.stop
            && stop.as_mut().poll(cx).is_ready()
        {
            self.stop = None;
            self.protocol.go_away();
        }
        // What wakes a connection is most often its peer.
        let mut starved = self.read.is_empty() && self.may_read() && self.poll_read(cx)?.is_pending();
        loop {
            self.poll_running(cx);
            self.handle_input(cx)?;
            if self.timer.poll(cx, self.wake_at()).is_ready() {
                self.check_stalled()?;
                let now = Instant::now().into_std();
                self.check_idle(now);
                let handled = self.protocol.handle_timeout(now);
                handled.map_err(|error| self.broken(error))?;
                self.handle_events(cx);
                continue;
            }
            if self.out.is_empty() {
                self.take_output();
            }
            let flushed = poll_flush_buf(&mut self.io, cx, &mut self.out, &mut self.written);
            if let Poll::Ready(Err(error)) = flushed {
                return Poll::Ready(Err(self.lost(error)));
            }
            if self.watch_writing(flushed.is_pending()) {
                continue; // so that the timer knows
            }
            if flushed.is_ready() && (self.take_output() || std::mem::take(&mut self.postponed)) {
                continue;
            }
            self.in_flight.set(self.protocol.in_flight());
            if self.is_done() && flushed.is_ready() {
                ready!(Pin::new(&mut self.io).poll_shutdown(cx)).ok(); // the peer may be gone, which is as good
                return Poll::Ready(Ok(()));
            }
            if !self.may_read() {
                self.message_due = None; // it is not the peer who holds it up
                return Poll::Pending;
            }
            starved = starved || self.poll_read(cx)?.is_pending();
            if starved {
                release_if_idle(&mut self.read);
                if matches!(self.idle, Idle::No) {
                    self.idle = Idle::Until(Instant::now().into_std() + IDLE_AFTER);
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
                self.protocol.handle_eof(&self.read).map_err(|error| self.broken(error))?;
                self.cancel_unheard();
            }
            Ok(_) => {
                self.heard = true;
                if matches!(self.idle, Idle::Released) {
                    self.idle = Idle::No;
                }
            }
            Err(error) => return Poll::Ready(Err(self.lost(error))),
        }
        Poll::Ready(Ok(()))
    }

    /// Whether more may be taken from the peer: it reads what it is sent, and a handler can be started for it.
    fn may_read(&self) -> bool {
        !self.ended && !self.is_over_budget() && self.protocol.capacity() > 0 && self.held.is_none()
    }

    /// Whether as much waits to be written as may.
    fn is_over_budget(&self) -> bool {
        let waiting = self.out.len() + self.answered;
        waiting > 0 && waiting >= self.write_budget
    }

    fn take_output(&mut self) -> bool {
        self.answered = 0;
        self.protocol.poll_output(&mut self.out)
    }

    /// Whether nothing is left to do: the peer or this side ends the connection, and all calls are answered.
    fn is_done(&self) -> bool {
        (self.ended || self.stop.is_none()) && self.protocol.in_flight() == 0 && self.out.is_empty()
    }

    fn handle_input(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError> {
        // Once more after the events, since those may have made room for messages that were left unread.
        loop {
            self.handle_events(cx);
            let before = self.read.len();
            if before == 0 || self.held.is_some() || self.is_over_budget() {
                return Ok(());
            }
            let now = Instant::now().into_std();
            let result = self.protocol.handle_input(now, &mut self.read);
            self.watch_reading(now, self.read.len() < before);
            self.handle_events(cx);
            if let Err(error) = result {
                // What was answered before the fault should still reach the peer.
                self.take_output();
                let _ = poll_flush_buf(&mut self.io, cx, &mut self.out, &mut self.written);
                return Err(self.broken(error));
            }
            if self.read.is_empty() || self.read.len() == before {
                return Ok(());
            }
        }
    }

    fn wake_at(&self) -> Option<std::time::Instant> {
        let idle = if let Idle::Until(at) = self.idle { Some(at) } else { None };
        let stalled = self.write_due.map(|(due, _)| due);
        [self.protocol.poll_timeout(), self.message_due, stalled, idle].into_iter().flatten().min()
    }

    /// After a while without anything to read, the memory for what is to be written goes too.
    fn check_idle(&mut self, now: std::time::Instant) {
        if !matches!(self.idle, Idle::Until(at) if at <= now) {
            return;
        }
        if std::mem::take(&mut self.heard) {
            self.idle = Idle::Until(now + IDLE_AFTER);
        } else {
            self.out.release();
            self.protocol.release_memory();
            self.slot = None;
            self.idle = Idle::Released;
        }
    }

    /// A part of a message that is left has to become whole in time. What waits for room here is not the peer's fault.
    fn watch_reading(&mut self, now: std::time::Instant, progressed: bool) {
        if self.read.is_empty() || self.protocol.capacity() == 0 {
            self.message_due = None;
        } else if progressed || self.message_due.is_none() {
            self.message_due = now.checked_add(self.stall_timeout);
        }
    }

    /// A peer has to read what it is sent. Says whether the time for that began to run just now.
    fn watch_writing(&mut self, waiting: bool) -> bool {
        if !waiting {
            self.write_due = None;
            return false;
        }
        if self.write_due.is_some_and(|(_, written)| written == self.written) {
            return false;
        }
        let due = Instant::now().into_std().checked_add(self.stall_timeout);
        self.write_due = due.map(|due| (due, self.written));
        self.write_due.is_some()
    }

    fn check_stalled(&self) -> Result<(), TransportError> {
        let now = Instant::now().into_std();
        let stalled = |due: Option<std::time::Instant>| due.is_some_and(|due| due <= now);
        let what = if stalled(self.message_due) {
            "a message was begun and not finished in time"
        } else if stalled(self.write_due.map(|(due, _)| due)) {
            "the peer does not read its answers"
        } else {
            return Ok(());
        };
        let kind = TransportErrorKind::Protocol;
        Err(TransportError::new(kind, Stage::Receive, Sent::Maybe).because(what))
    }

    /// The peer closed its side, and so is taken to be gone: the handlers whose answers it waited for are dropped. One that
    /// closed that side alone is told so. Handlers that answer nothing finish their work.
    fn cancel_unheard(&mut self) {
        let unheard: Vec<_> =
            self.running.iter_mut().filter(|call| !call.oneway).map(|call| call.id).collect();
        for id in unheard {
            self.cancel(id);
            self.protocol.reset(id, Reason::Cancel);
        }
    }

    fn handle_events(&mut self, cx: &mut Context<'_>) {
        if let Some((id, head, body)) = self.held.take() {
            self.start(cx, id, head, body);
        }
        while self.held.is_none() {
            // One chunk of small requests may ask for answers that are a thousand times as large.
            if self.is_over_budget() {
                self.postponed = true;
                return;
            }
            match self.protocol.poll_event() {
                None => return,
                Some(Event::Request { id, head, body, .. }) => self.start(cx, id, head, body),
                Some(Event::Reset { id, .. }) => self.cancel(id),
                // A server opens no calls, so nothing else concerns it.
                Some(_) => {}
            }
        }
    }

    /// Starts a handler and polls it once.
    fn start(&mut self, cx: &mut Context<'_>, id: CallId, mut head: RequestHead, body: Bytes) {
        match self.service.poll_ready(cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return self.reply(id, failed(error)),
            Poll::Pending => {
                self.held = Some((id, head, body));
                return;
            }
        }
        head.origin = Some(self.origin.clone());
        let oneway = !head.wants_answer();
        let request = Request { head, body: Body::Once(body) };
        let future = match catch_unwind(AssertUnwindSafe(|| self.service.call(request))) {
            Ok(future) => future,
            Err(panic) => return self.reply(id, panicked(&*panic)),
        };
        let mut slot = self.slot.take().unwrap_or_else(|| Box::pin(None));
        slot.as_mut().set(Some(future));
        match poll_slot(slot.as_mut(), cx) {
            Poll::Ready(result) => {
                slot.as_mut().set(None);
                self.slot = Some(slot);
                self.reply(id, result);
            }
            Poll::Pending => {
                // It has to be polled once more where it goes, to be woken there.
                self.running.push(Running { id, oneway, slot, waker: None });
                self.poll_running(cx);
            }
        }
    }

    fn poll_running(&mut self, cx: &mut Context<'_>) {
        while !self.running.is_empty() {
            match Pin::new(&mut self.running).poll_next(cx) {
                Poll::Ready(Some((id, Some(response)))) => self.reply(id, response),
                Poll::Ready(Some((_, None))) => {}
                Poll::Ready(None) | Poll::Pending => return,
            }
        }
    }

    /// Drops a handler whose call is over.
    fn cancel(&mut self, id: CallId) {
        if self.held.as_ref().is_some_and(|(held, ..)| *held == id) {
            self.held = None;
        }
        if let Some(call) = self.running.iter_mut().find(|call| call.id == id && call.slot.is_some()) {
            call.slot.as_mut().set(None);
            if let Some(waker) = call.waker.take() {
                waker.wake(); // so that its place is given back
            }
        }
    }

    fn reply(&mut self, id: CallId, response: Response<Body>) {
        let Response { head, body } = response;
        let result = match &body {
            Body::Once(bytes) => {
                self.answered += bytes.len();
                self.protocol.reply(id, &head, bytes, More::Done)
            }
            Body::Stream(_) => {
                Err(CallError::Unsupported("this protocol can not answer with a stream".into()))
            }
        };
        let status = match result {
            // An answer to a call that was broken off meanwhile concerns nobody.
            Ok(()) | Err(CallError::Unknown) => return,
            Err(error @ CallError::TooLarge { .. }) => {
                Status::resource_exhausted(format!("the answer: {error}"))
            }
            Err(error) => Status::internal(format!("the answer: {error}")),
        };
        if self.protocol.reply(id, &ResponseHead::failed(status), &Bytes::new(), More::Done).is_err() {
            self.protocol.reset(id, Reason::Cancel);
        }
    }

    fn broken(&self, error: ConnectionError) -> TransportError {
        // A peer that goes in the middle of a message is lost; it broke no rule.
        let kind = match error.kind() {
            ConnectionErrorKind::Truncated => TransportErrorKind::Closed,
            _ => TransportErrorKind::Protocol,
        };
        TransportError::new(kind, Stage::Receive, Sent::Maybe).because(error)
    }

    fn lost(&self, error: io::Error) -> TransportError {
        let kind =
            if is_disconnect(&error) { TransportErrorKind::Closed } else { TransportErrorKind::Connect };
        TransportError::new(kind, Stage::Receive, Sent::Maybe).because(error)
    }
}

/// Whether a connection has been idle for long.
#[derive(Clone, Copy, Debug)]
enum Idle {
    /// It was not looked at yet.
    No,
    /// Then it is looked at whether something was read.
    Until(std::time::Instant),
    /// It holds no memory for messages.
    Released,
}

/// How long a connection keeps the memory for messages without having any.
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// A handler that was not ready at its first poll.
struct Running<F> {
    id: CallId,
    oneway: bool,
    slot: Pin<Box<Option<F>>>,
    waker: Option<Waker>,
}

impl<F, E> Future for Running<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
    E: Into<BoxError>,
{
    type Output = (CallId, Option<Response<Body>>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.slot.is_none() {
            return Poll::Ready((self.id, None));
        }
        match poll_slot(self.slot.as_mut(), cx) {
            Poll::Ready(response) => Poll::Ready((self.id, Some(response))),
            Poll::Pending => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Polls a call so that a panic in a layer costs that call alone, as one in a handler does.
fn poll_slot<F, E>(slot: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<Response<Body>>
where
    F: Future<Output = Result<Response<Body>, E>>,
    E: Into<BoxError>,
{
    let Some(future) = slot.as_pin_mut() else { return Poll::Pending };
    // It is never polled again after a panic, so nobody sees its broken state.
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(polled) => polled.map(|result| result.unwrap_or_else(failed)),
        Err(panic) => Poll::Ready(panicked(&*panic)),
    }
}

/// What a caller is told of a panic: that it happened. The text stays in the log.
fn panicked(panic: &(dyn Any + Send)) -> Response<Body> {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("not a text"), "a layer panicked");
    failed(Status::internal("the server panicked"))
}

/// The failure of a service, as a peer is told of it.
fn failed(error: impl Into<BoxError>) -> Response<Body> {
    let status = Status::from(rpc_core::Error::from_service(error.into()));
    Response { head: ResponseHead::failed(status), body: Body::empty() }
}

/// This connection's part of a count that all share.
struct Counter {
    all: Arc<AtomicUsize>,
    mine: usize,
}

impl Counter {
    fn set(&mut self, count: usize) {
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

impl<Io, P, S: Service<Request<Body>>> fmt::Debug for Connection<'_, Io, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("origin", &self.origin).finish_non_exhaustive()
    }
}
