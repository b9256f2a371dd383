use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use bytes::BytesMut;
use rpc_net::{ConnectionTimer, closed_by_peer, poll_fill, poll_flush_buf, release_if_idle};
use rpc_wire::{Protocol, WriteBuf};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::{Cause, Connection, Handled, Next};
use crate::serving::Serving;

/// Drives a connection until it ends, and says why it did. `on_room` is called when calls that found no room
/// may find some, `on_leaving` when the connection takes no new calls. `serving` serves calls of the peer.
pub(crate) async fn drive<Io, P>(
    io: Io,
    connection: &Connection<P>,
    serving: Option<&mut Serving<P>>,
    on_room: impl FnMut(),
    on_leaving: impl FnMut(),
) -> Arc<Cause>
where
    Io: AsyncRead + AsyncWrite + Unpin,
    P: Protocol,
{
    let mut driver = Driver {
        io,
        connection,
        serving,
        read: BytesMut::new(),
        out: WriteBuf::new(),
        written: 0,
        timer: ConnectionTimer::default(),
        gathering: Gathering::No,
        full: false,
        heard: false,
        on_room,
        on_leaving,
    };
    poll_fn(|cx| driver.poll(cx)).await
}

struct Driver<'a, Io, P, R, L> {
    io: Io,
    connection: &'a Connection<P>,
    serving: Option<&'a mut Serving<P>>,
    read: BytesMut,
    out: WriteBuf,
    written: u64,
    timer: ConnectionTimer,
    gathering: Gathering,
    /// Nothing is read until something is written.
    full: bool,
    /// The peer has sent something.
    heard: bool,
    on_room: R,
    on_leaving: L,
}

/// Callers that are ready to run should put their requests in before a write: with the first request there is, the driver
/// lets them run once.
#[derive(PartialEq, Eq)]
enum Gathering {
    No,
    Yielded,
}

impl<Io, P, R, L> Driver<'_, Io, P, R, L>
where
    Io: AsyncRead + AsyncWrite + Unpin,
    P: Protocol,
    R: FnMut(),
    L: FnMut(),
{
    /// Ready when the connection ended, with the reason.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Arc<Cause>> {
        loop {
            if let Some(serving) = &mut self.serving {
                serving.poll(cx);
            }
            if !self.full {
                match self.poll_read(cx) {
                    Poll::Ready(Err(cause)) => return Poll::Ready(cause),
                    // Its callers were woken and will put in the next requests: let them, then write.
                    Poll::Ready(Ok(())) => continue,
                    Poll::Pending => {}
                }
            }
            match self.poll_write(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(cause)) => return Poll::Ready(cause),
                Poll::Pending => {
                    // The peer reads nothing. Deadlines hold all the same, also those of calls that come now.
                    let until = self.connection.rest(cx.waker());
                    if let Err(cause) = ready!(self.poll_rest(cx, until)) {
                        return Poll::Ready(cause);
                    }
                    continue;
                }
            }
            if self.gathering == Gathering::No {
                self.gathering = Gathering::Yielded;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let next = self.connection.next(&mut self.out, cx.waker());
            // What waited to be written is on its way: what was left unread meanwhile can go on.
            if std::mem::take(&mut self.full) {
                if let Err(cause) = self.handle_input(cx) {
                    return Poll::Ready(cause);
                }
                if let Next::Rest(_) = next {
                    continue; // there may be something to write now
                }
            }
            match next {
                Next::Write { made_room } => {
                    if made_room {
                        (self.on_room)();
                    }
                }
                Next::Rest(until) => {
                    self.gathering = Gathering::No;
                    if let Err(cause) = ready!(self.poll_rest(cx, until)) {
                        return Poll::Ready(cause);
                    }
                }
                Next::End => return Poll::Ready(Cause::closed("the connection was given up")),
            }
        }
    }

    /// Rests until it is woken. Ready when the instant has passed and its calls were told.
    fn poll_rest(&mut self, cx: &mut Context<'_>, until: Option<Instant>) -> Poll<Result<(), Arc<Cause>>> {
        if self.connection.made_room() {
            (self.on_room)();
        }
        ready!(self.timer.poll(cx, until));
        Poll::Ready(self.handle_timeout(cx))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Arc<Cause>>> {
        poll_flush_buf(&mut self.io, cx, &mut self.out, &mut self.written).map_err(Cause::lost)
    }

    /// Reads a chunk and hands its messages out. Pending when there is nothing to read.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Arc<Cause>>> {
        match poll_fill(&mut self.io, cx, &mut self.read) {
            Poll::Pending => {
                release_if_idle(&mut self.read);
                Poll::Pending
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(Cause::lost(error))),
            Poll::Ready(Ok(0)) => {
                let ended = self.connection.handle_eof(&self.read);
                Poll::Ready(Err(match ended {
                    Ok(()) => Cause::closed(closed_by_peer(self.heard)),
                    Err(error) => Cause::broken(error),
                }))
            }
            Poll::Ready(Ok(_)) => {
                self.heard = true;
                Poll::Ready(self.handle_input(cx))
            }
        }
    }

    fn handle_input(&mut self, cx: &mut Context<'_>) -> Result<(), Arc<Cause>> {
        let mut handled = Handled::default();
        let result = self.connection.handle_input(now(), &mut self.read, &mut handled);
        self.wake(cx, handled);
        result.map_err(Cause::broken)
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) -> Result<(), Arc<Cause>> {
        let mut handled = Handled::default();
        let result = self.connection.handle_timeout(now(), &mut handled);
        self.wake(cx, handled);
        result.map_err(Cause::broken)
    }

    fn wake(&mut self, cx: &mut Context<'_>, mut handled: Handled) {
        // What the peer called before it answered begins before the answer is seen.
        if let Some(serving) = &mut self.serving {
            serving.cancel(&mut handled.over);
            for (id, head, body) in handled.requests {
                serving.start(cx, id, head, body);
            }
        }
        handled.wake.into_iter().for_each(Waker::wake);
        self.full |= handled.full;
        if handled.went_away {
            (self.on_leaving)();
        }
        if handled.made_room {
            (self.on_room)();
        }
    }
}

/// The time by tokio's clock, which tests can stop.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
