use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use rpc_core::{
    BoxError, RequestHead, Response, ResponseHead, Sent, Stage, TransportError, TransportErrorKind,
};
use rpc_net::{ConnectionTimer, closed_by_peer, poll_fill, poll_flush_buf};
use rpc_wire::{
    CallId, ConnectionError, ConnectionErrorKind, Event, More, OpenError, Protocol, Reason, WriteBuf,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::coop::unconstrained;

use crate::read_buffer::ReadBuffer;

/// A connection, and the exchange on it. Whoever holds it drives it.
pub(crate) struct Connection<Io, P> {
    io: Io,
    protocol: P,
    read: ReadBuffer,
    out: WriteBuf,
    /// It stays armed from one exchange to the next, so that most arm none.
    timer: ConnectionTimer,
    exchange: Exchange,
    /// It carried an exchange before.
    used: bool,
    /// When something came, when a request that wants no answer was written, or when it was made.
    alive_at: Instant,
    /// Not to be used again, whatever the protocol says.
    spoiled: bool,
}

/// What is known of the exchange that is under way.
#[derive(Debug, Default)]
struct Exchange {
    /// The call; `None` when it wants no answer or has it.
    awaited: Option<CallId>,
    deadline: Option<Instant>,
    /// Bytes of it that the socket took.
    written: u64,
    /// Bytes that came since it began.
    received: u64,
}

type Outcome = Result<Response<Bytes>, TransportError>;

/// Nothing more is read from a peer that leaves so many bytes unread, beside what is being written: it can only be one that
/// calls us.
const LEFT_UNREAD: usize = 1024 * 1024;

impl<Io: AsyncRead + AsyncWrite + Unpin, P: Protocol> Connection<Io, P> {
    pub(crate) fn new(io: Io, protocol: P) -> Self {
        Self {
            io,
            protocol,
            read: ReadBuffer::default(),
            out: WriteBuf::new(),
            timer: ConnectionTimer::default(),
            exchange: Exchange::default(),
            used: false,
            alive_at: now(),
            spoiled: false,
        }
    }

    /// Whether it carried an exchange before.
    pub(crate) fn is_used(&self) -> bool {
        self.used
    }

    /// When it was seen to work last.
    pub(crate) fn alive_at(&self) -> Instant {
        self.alive_at
    }

    /// Whether nothing came since the last exchange: neither the end of the stream nor bytes, which could only be of an
    /// answer that is too late.
    pub(crate) fn is_quiet(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0];
        let mut buf = ReadBuf::new(&mut byte);
        let io = &mut self.io;
        // Without the task's budget: one that is used up would look like a quiet connection.
        pin!(unconstrained(poll_fn(|cx| Pin::new(&mut *io).poll_read(cx, &mut buf)))).poll(cx).is_pending()
    }

    /// Begins an exchange. Nothing is written yet.
    pub(crate) fn start(&mut self, head: &RequestHead, body: &Bytes) -> Result<(), OpenError> {
        if self.protocol.wants_time() {
            self.protocol.set_time(now());
        }
        let id = self.protocol.open(head, body, More::Done).inspect_err(|error| {
            self.spoiled |= *error == OpenError::GoingAway;
        })?;
        let awaited = head.wants_answer().then_some(id);
        self.exchange = Exchange { awaited, deadline: head.deadline, written: 0, received: 0 };
        self.used = true;
        Ok(())
    }

    /// Drives the exchange. Ready with the answer; where none is wanted, when all bytes are written.
    pub(crate) fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        loop {
            let flushed = self.poll_write(cx);
            let polled = match self.exchange.awaited {
                Some(_) => self.poll_read(cx, flushed),
                None => flushed.map(|flushed| match flushed {
                    Ok(()) => {
                        self.alive_at = now();
                        Some(Ok(Response { head: ResponseHead::ok(), body: Bytes::new() }))
                    }
                    Err(error) => Some(Err(self.lost(TransportErrorKind::Closed, error))),
                }),
            };
            let outcome = match polled {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => {
                    let wake_at = earlier(self.protocol.poll_timeout(), self.exchange.deadline);
                    ready!(self.timer.poll(cx, wake_at));
                    self.handle_timeout()
                }
            };
            if let Some(outcome) = outcome {
                return Poll::Ready(outcome);
            }
        }
    }

    /// Ends the exchange, whether it is over or given up. Says whether the connection can carry another; then it holds no
    /// read buffer.
    pub(crate) fn finish(&mut self) -> bool {
        if let Some(id) = self.exchange.awaited.take() {
            self.protocol.reset(id, Reason::Cancel);
        }
        let clean = !self.spoiled && self.out.is_empty() && self.protocol.is_clean(self.read.unread());
        if clean {
            self.read.release();
        }
        clean
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.protocol.poll_output(&mut self.out);
        poll_flush_buf(&mut self.io, cx, &mut self.out, &mut self.exchange.written)
    }

    /// Reads once. It is done also while the request is not written, since a peer may refuse a request that it has not read
    /// to the end, and when it can not be written, since the peer may have said why.
    fn poll_read(&mut self, cx: &mut Context<'_>, flushed: Poll<io::Result<()>>) -> Poll<Option<Outcome>> {
        if flushed.is_pending() && self.protocol.unsent() > LEFT_UNREAD {
            return Poll::Pending; // it asks, and does not read the answers
        }
        match poll_fill(&mut self.io, cx, self.read.fill()) {
            Poll::Pending => {
                self.read.release();
                match flushed {
                    Poll::Ready(Err(error)) => {
                        Poll::Ready(Some(Err(self.lost(TransportErrorKind::Closed, error))))
                    }
                    _ => Poll::Pending,
                }
            }
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(self.lost(TransportErrorKind::Closed, error)))),
            Poll::Ready(Ok(0)) => Poll::Ready(Some(self.handle_eof())),
            Poll::Ready(Ok(count)) => {
                self.exchange.received += u64::try_from(count).unwrap_or(u64::MAX);
                Poll::Ready(self.handle_input())
            }
        }
    }

    fn handle_input(&mut self) -> Option<Outcome> {
        self.alive_at = now();
        loop {
            let before = self.read.unread().len();
            let handled = self.protocol.handle_input(self.alive_at, self.read.drain());
            // What came before the fault counts.
            let outcome = self.take_events().or_else(|| handled.err().map(|error| Err(self.broken(error))));
            // A protocol takes so many messages at once; taking their events makes room for more.
            if outcome.is_some() || self.read.unread().is_empty() || self.read.unread().len() == before {
                return outcome;
            }
        }
    }

    fn handle_eof(&mut self) -> Outcome {
        let ended = self.protocol.handle_eof(self.read.unread());
        self.spoiled = true;
        self.take_events().unwrap_or_else(|| {
            Err(match ended {
                Ok(()) => {
                    let heard = self.used || self.exchange.received > 0;
                    self.lost(TransportErrorKind::Closed, closed_by_peer(heard))
                }
                Err(error) => self.broken(error),
            })
        })
    }

    fn handle_timeout(&mut self) -> Option<Outcome> {
        let now = now();
        let handled = self.protocol.handle_timeout(now);
        if let Some(outcome) = self.take_events() {
            return Some(outcome);
        }
        match handled {
            Err(error) => Some(Err(self.broken(error))),
            // Requests that want no answer are not in the protocol's table.
            Ok(()) if self.exchange.deadline.is_some_and(|deadline| deadline <= now) => {
                Some(Err(self.error(TransportErrorKind::Deadline)))
            }
            Ok(()) => None,
        }
    }

    /// Takes all that came. The outcome is the first of the call; anything behind it that says the connection is out of step
    /// spoils it.
    fn take_events(&mut self) -> Option<Outcome> {
        let mut outcome = None;
        while let Some(event) = self.protocol.poll_event() {
            let (id, result) = match event {
                Event::Response { id, head, body, more: More::Done } => (id, Ok(Response { head, body })),
                Event::Response { id, more: More::Streaming, .. } => {
                    self.spoiled = true;
                    (id, Err(self.violation("the answer to a unary call is a stream")))
                }
                Event::Reset { id, reason } => (id, Err(self.reset(reason))),
                Event::Stray => {
                    self.spoiled = true;
                    let Some(id) = self.exchange.awaited else { continue };
                    (id, Err(self.violation("bad sequence id: an answer to another request")))
                }
                Event::GoAway => {
                    self.spoiled = true;
                    // Some servers say so to clients that make one call at a time too, before they answer.
                    let unread = self.read.unread().len();
                    self.exchange.received = u64::try_from(unread).unwrap_or(u64::MAX);
                    continue;
                }
                Event::Request { id, head, .. } => {
                    // A peer of a symmetric protocol may call; nothing here answers such calls.
                    tracing::debug!(method = %head.method, "a call of the peer is not served here");
                    self.protocol.reset(id, Reason::Refused);
                    continue;
                }
                // Streams have no takers here.
                _ => {
                    self.spoiled = true;
                    continue;
                }
            };
            if self.exchange.awaited == Some(id) {
                self.exchange.awaited = None;
                outcome = Some(result);
            }
        }
        outcome
    }

    #[cold]
    fn reset(&mut self, reason: Reason) -> TransportError {
        match reason {
            Reason::Deadline => self.error(TransportErrorKind::Deadline),
            Reason::Cancel => self.error(TransportErrorKind::Cancelled),
            Reason::Refused => {
                TransportError::new(TransportErrorKind::ShuttingDown, Stage::Receive, Sent::No)
            }
            Reason::Protocol => {
                self.spoiled = true;
                self.violation("wrong method: an answer to another method")
            }
        }
    }

    #[cold]
    fn violation(&self, what: &'static str) -> TransportError {
        self.error(TransportErrorKind::Protocol).because(what)
    }

    #[cold]
    fn broken(&mut self, error: ConnectionError) -> TransportError {
        let kind = match error.kind() {
            ConnectionErrorKind::Truncated | ConnectionErrorKind::Unresponsive => TransportErrorKind::Closed,
            ConnectionErrorKind::TooLarge => TransportErrorKind::TooLarge,
            _ => TransportErrorKind::Protocol,
        };
        self.lost(kind, error)
    }

    /// The connection can not be used any further.
    #[cold]
    fn lost(&mut self, kind: TransportErrorKind, cause: impl Into<BoxError>) -> TransportError {
        self.spoiled = true;
        let error = self.error(kind);
        match self.exchange.received {
            0 => error.because(cause),
            received => error.because(PartOfAnswer { received, cause: cause.into() }),
        }
    }

    #[cold]
    fn error(&self, kind: TransportErrorKind) -> TransportError {
        let sent = match (self.exchange.written, self.exchange.received) {
            (0, _) => Sent::No,
            (_, 0) => Sent::Maybe,
            _ => Sent::Yes,
        };
        let stage = if self.out.is_empty() { Stage::Receive } else { Stage::Send };
        TransportError::new(kind, stage, sent)
    }
}

impl<Io, P> fmt::Debug for Connection<Io, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

/// Why a connection ended, when a part of the answer was there.
#[derive(Debug)]
struct PartOfAnswer {
    received: u64,
    cause: BoxError,
}

impl fmt::Display for PartOfAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "got {} bytes of an answer", self.received)
    }
}

impl std::error::Error for PartOfAnswer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Tokio's clock, which tests move by hand.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
