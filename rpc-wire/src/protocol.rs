use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{CodecSet, RequestHead, ResponseHead};

use crate::{CallError, ConnectionError, Detect, Limits, OpenError, WriteBuf};

/// A call on one connection, for as long as it is in flight there. On a client it is the id on the wire; on a server it is
/// the protocol's own, since peers may use an id twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// Whether messages of a call follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum More {
    /// This is all.
    #[default]
    Done,
    /// Messages of a stream follow.
    Streaming,
}

/// Why a call is broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Nobody waits for the answer any more.
    Cancel,
    /// Its time is up.
    Deadline,
    /// The peer did not execute it and will not: it may be sent elsewhere.
    Refused,
    /// The answer broke the rules of the protocol, though the stream is still in step.
    Protocol,
}

/// What came in.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A peer calls. Exactly one [`Protocol::reply`] or [`Protocol::reset`] is owed, also when the head wants no answer:
    /// nothing is written then, but the call counts as in flight until it.
    Request {
        /// The call.
        id: CallId,
        /// What the request says beside its payload.
        head: RequestHead,
        /// The payload, or the first message of a stream.
        body: Bytes,
        /// Whether messages follow.
        more: More,
    },
    /// A call that was opened here is answered. Unless messages follow, it is over.
    Response {
        /// The call.
        id: CallId,
        /// What the response says beside its payload.
        head: ResponseHead,
        /// The payload, or the first message of a stream.
        body: Bytes,
        /// Whether messages follow.
        more: More,
    },
    /// A further message of a stream.
    Message {
        /// The call.
        id: CallId,
        /// The payload.
        body: Bytes,
    },
    /// The peer sends no more on this call. From a server it is the end of the call.
    Finished {
        /// The call.
        id: CallId,
        /// How it ended, with the trailing metadata.
        trailers: ResponseHead,
    },
    /// A call is broken off: it is over, and nothing of it will come.
    Reset {
        /// The call.
        id: CallId,
        /// Why.
        reason: Reason,
    },
    /// An answer came that no call waits for, nor waited for before it was given up. Where calls share a connection it means
    /// nothing; where one exchange has it for itself, the connection is out of step.
    Stray,
    /// The peer takes no new calls on this connection. Those in flight go on.
    GoAway,
}

/// One connection's side of a wire protocol, as a value. The same trait serves clients and servers; a symmetric protocol
/// may be both at once.
///
/// Methods are of three kinds. *In*: `handle_input`, `handle_eof`, `handle_timeout`, `set_time` tell what happened.
/// *Commands*: `open`, `reply`, `send`, `finish`, `reset`, `go_away` say what is wanted. *Out*: `poll_event`, `poll_output`,
/// `poll_timeout` are drained after any of the others, in this order, until they have nothing more.
///
/// # Errors
/// A [`ConnectionError`] ends the connection: nothing more is fed in, what `poll_output` still has may be written.
///
/// # Panics
/// Never, whatever a peer sends and in whatever order commands come.
///
/// # Example
/// ```
/// # use std::time::Instant;
/// # use bytes::BytesMut;
/// # use rpc_wire::{Protocol, WriteBuf, ConnectionError};
/// /// One turn of a driver.
/// fn turn(p: &mut impl Protocol, now: Instant, read: &mut BytesMut, out: &mut WriteBuf) -> Result<(), ConnectionError> {
///     p.handle_input(now, read)?;
///     while let Some(event) = p.poll_event() {
///         // give it to whom it concerns
///         # let _ = event;
///     }
///     p.poll_output(out);
///     let wake_at = p.poll_timeout();
///     # let _ = wake_at;
///     Ok(())
/// }
/// ```
pub trait Protocol: Send + 'static {
    /// Takes whole frames from the front of `src` and leaves a part of one there. It may leave whole frames too, while
    /// [`capacity`](Self::capacity) is 0 or many events wait: call it again once events were drained and calls ended,
    /// also without new bytes.
    ///
    /// # Errors
    /// When the stream can not be followed any further.
    fn handle_input(&mut self, now: Instant, src: &mut BytesMut) -> Result<(), ConnectionError>;

    /// The peer will send no more; `unread` is what `handle_input` left.
    ///
    /// # Errors
    /// When that is in the middle of a message.
    fn handle_eof(&mut self, unread: &[u8]) -> Result<(), ConnectionError>;

    /// Time has reached what [`poll_timeout`](Self::poll_timeout) said.
    ///
    /// # Errors
    /// When the peer has not answered for so long that the connection counts as dead.
    fn handle_timeout(&mut self, now: Instant) -> Result<(), ConnectionError>;

    /// Whether [`set_time`](Self::set_time) makes a difference: the protocol tells the peer what remains of a deadline.
    fn wants_time(&self) -> bool {
        false
    }

    /// Says what time it is, for a call that is opened next. Without it the time of the last `handle_input` counts, and the
    /// peer may believe that it has longer than it has. Drivers need not look at the clock for protocols that do not
    /// [want it](Self::wants_time).
    fn set_time(&mut self, now: Instant) {
        let _ = now;
    }

    /// Starts a call. A oneway call is over at once; its id means nothing.
    ///
    /// # Errors
    /// When the call can not be put on this connection. Nothing was written then.
    fn open(&mut self, head: &RequestHead, body: &Bytes, more: More) -> Result<CallId, OpenError>;

    /// Answers a call of the peer. Unless messages follow, that ends it.
    ///
    /// # Errors
    /// When the answer can not be put on this connection. Nothing was written then, and the call is still open.
    fn reply(&mut self, id: CallId, head: &ResponseHead, body: &Bytes, more: More) -> Result<(), CallError>;

    /// Sends a further message of a stream.
    ///
    /// # Errors
    /// When there is no such stream, or the message can not be sent on it.
    fn send(&mut self, id: CallId, message: &Bytes) -> Result<(), CallError> {
        let _ = message;
        let _ = id;
        Err(CallError::Unsupported("the protocol has no streams".into()))
    }

    /// Ends this side of a stream. On a server that ends the call.
    ///
    /// # Errors
    /// When there is no such stream.
    fn finish(&mut self, id: CallId, trailers: &ResponseHead) -> Result<(), CallError> {
        let _ = trailers;
        let _ = id;
        Err(CallError::Unsupported("the protocol has no streams".into()))
    }

    /// How many bytes the peer lets this side send on a stream now.
    fn window(&self, id: CallId) -> usize {
        let _ = id;
        0
    }

    /// Breaks a call off. Nothing of it surfaces any more; the peer is told where the protocol has a word for it.
    fn reset(&mut self, id: CallId, reason: Reason);

    /// Takes no new calls, and tells the peer so where the protocol has a word for it.
    fn go_away(&mut self);

    /// Whether the peer hears of that, but may have sent requests before it did: the connection of a server that goes away
    /// should be kept for a moment when it is idle, so that those are served. Default: no.
    fn may_be_crossed(&self) -> bool {
        false
    }

    /// How many calls may be opened by a client, or taken from the peer by a server, before others end.
    fn capacity(&self) -> usize;

    /// The next thing that came in.
    fn poll_event(&mut self) -> Option<Event>;

    /// Moves what is to be written into `dst`. Says whether there was anything.
    fn poll_output(&mut self, dst: &mut WriteBuf) -> bool;

    /// How many bytes wait here to be written: what [`poll_output`](Self::poll_output) would move, and answers that are held
    /// until others left. Drivers take no more from a peer while too much waits for it.
    fn unsent(&self) -> usize;

    /// When to call [`handle_timeout`](Self::handle_timeout). It may be earlier than anything is due.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Gives up memory that would only make the next messages quicker: for a connection that has been idle for a while.
    fn release_memory(&mut self) {}

    /// How many calls are in flight, whoever opened them.
    fn in_flight(&self) -> usize;

    /// Whether the connection may be used for another exchange: nothing in flight, nothing half read, nothing unread,
    /// neither side going away.
    fn is_clean(&self, unread: &[u8]) -> bool;
}

/// What makes the protocol of each new connection: a framing, or a protocol's configuration.
pub trait MakeProtocol: Clone + Send + Sync + 'static {
    /// The protocol.
    type Protocol: Protocol;
    /// What payloads it carries.
    type Codecs: CodecSet;
    /// The protocol's name in errors and traces, such as `"thrift framed binary"`.
    fn name(&self) -> &'static str;
    /// The client's side of a new connection. `first_id` is where ids begin; callers pass [`CallId`]`(1)`.
    fn client(&self, limits: &Limits, first_id: CallId) -> Self::Protocol;
    /// The server's side of a new connection.
    fn server(&self, limits: &Limits) -> Self::Protocol;
    /// Whether a connection that begins with these bytes speaks this protocol, told by the fewest bytes that suffice.
    fn detect(&self, first: &[u8]) -> Detect;
    /// The codecs, as the protocol configures them.
    fn codecs(&self) -> Self::Codecs;
    /// Whether answers carry ids. Only then can calls be multiplexed.
    fn multiplexes(&self) -> bool;
    /// Whether either side may call the other: servers [`open`](Protocol::open) calls, and clients take requests. The ids of
    /// both have nothing to do with each other, and differ. Default: no.
    fn is_symmetric(&self) -> bool {
        false
    }
}
