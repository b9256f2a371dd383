//! Reading and writing as connections do it, on both sides.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use bytes::{Buf, BytesMut};
use rpc_wire::WriteBuf;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::coop::unconstrained;
use tokio::time::Sleep;
use tokio_util::io::{poll_read_buf, poll_write_buf};

/// What one read may bring, in bytes: some sixty messages of 1 KiB.
const READ_CHUNK: usize = 64 * 1024;
/// A buffer with less room than this is given more before the next read.
const LEAST_ROOM: usize = 4 * 1024;
/// Buffers that a thread keeps for its connections, so that they need not be allocated at each read.
const SPARE_BUFFERS: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<BytesMut>> = const { RefCell::new(Vec::new()) };
}

/// What to say of a peer that closed a connection in good order: one that was never heard may not have understood what it was sent.
pub fn closed_by_peer(heard: bool) -> &'static str {
    match heard {
        true => "the peer closed the connection",
        false => "the peer closed the connection without a word: does it speak this protocol?",
    }
}

/// Reads once, behind what `buf` holds. Returns the number of bytes, 0 at the end.
///
/// # Errors
/// The socket's.
pub fn poll_fill<Io: AsyncRead + Unpin>(
    io: &mut Io,
    cx: &mut Context<'_>,
    buf: &mut BytesMut,
) -> Poll<io::Result<usize>> {
    if buf.capacity() - buf.len() < LEAST_ROOM {
        if buf.is_empty()
            && let Some(spare) = SPARE.with_borrow_mut(Vec::pop)
        {
            *buf = spare;
        }
        // At least doubles a buffer that holds a part of a large message.
        buf.reserve(READ_CHUNK);
    }
    poll_read_buf(Pin::new(io), cx, buf)
}

/// Gives the memory of an empty read buffer back to the thread: for connections that wait for their peer. While messages cut
/// from it are still in use, what is left of it serves the next reads instead.
pub fn release_if_idle(buf: &mut BytesMut) {
    if !buf.is_empty() || buf.capacity() == 0 || !buf.try_reclaim(READ_CHUNK) {
        return;
    }
    let spare = std::mem::take(buf);
    if spare.capacity() <= 2 * READ_CHUNK {
        SPARE.with_borrow_mut(|buffers| {
            if buffers.len() < SPARE_BUFFERS {
                buffers.push(spare);
            }
        });
    }
}

/// Writes as much as the socket takes. Ready once `buf` is empty and a stream that buffers, as TLS does, has passed all on;
/// the number of bytes written by now is added to `written`.
///
/// # Errors
/// The socket's.
pub fn poll_flush_buf<Io: AsyncWrite + Unpin>(
    io: &mut Io,
    cx: &mut Context<'_>,
    buf: &mut WriteBuf,
    written: &mut u64,
) -> Poll<io::Result<()>> {
    while buf.has_remaining() {
        let count = if buf.chunk().len() == buf.remaining() {
            // Most often there is one piece: then the kernel need not take a list of pieces apart.
            let count = ready!(Pin::new(&mut *io).poll_write(cx, buf.chunk()))?;
            buf.advance(count);
            count
        } else {
            ready!(poll_write_buf(Pin::new(&mut *io), cx, buf))?
        };
        if count == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        *written += u64::try_from(count).unwrap_or(u64::MAX);
    }
    Pin::new(io).poll_flush(cx)
}

/// The one timer of a connection. It is made when it is first needed, and moved only to an earlier instant: one that fires
/// too early does no harm.
#[derive(Debug, Default)]
pub struct ConnectionTimer {
    sleep: Option<Pin<Box<Sleep>>>,
    armed: Option<Instant>,
    /// Whom the timer wakes when it fires: while that stays the same, it need not be told again.
    wakes: Option<Waker>,
}

impl ConnectionTimer {
    /// Ready when `at` has passed, or an instant that was asked for earlier. Then it must be asked again.
    pub fn poll(&mut self, cx: &mut Context<'_>, at: Option<Instant>) -> Poll<()> {
        if let Some(at) = at
            && self.armed.is_none_or(|armed| at < armed)
        {
            self.armed = Some(at);
            match &mut self.sleep {
                Some(sleep) => sleep.as_mut().reset(at.into()),
                None => self.sleep = Some(Box::pin(tokio::time::sleep_until(at.into()))),
            }
            self.wakes = None;
        }
        if self.armed.is_none() {
            return Poll::Pending;
        }
        let Some(sleep) = &mut self.sleep else { return Poll::Pending };
        if !sleep.is_elapsed() && self.wakes.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        // Without the task's budget: a timer that was not asked because that is used up would not know whom to wake.
        if Pin::new(&mut unconstrained(sleep.as_mut())).poll(cx).is_pending() {
            self.wakes = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.armed = None;
        self.wakes = None;
        Poll::Ready(())
    }
}
