use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{CodecSet, RequestHead, ResponseHead, Status};

use crate::{FrameError, WriteBuf};

/// Whether answers say which request they answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// They carry its id, so that many calls can be in flight and answers come in any order.
    ById,
    /// They come in the order of the requests, so that a client keeps to one exchange at a time.
    InOrder,
}

/// What the first bytes of a connection say about its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detect {
    /// It is this one.
    Yes,
    /// It is not.
    No,
    /// So few bytes can not tell.
    NeedMore,
}

/// Whether a request is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Yes.
    Wanted,
    /// Never, not even on failure.
    None,
}

/// One message out of a stream.
#[derive(Debug)]
pub enum Frame<M> {
    /// A peer calls.
    Request {
        /// The peer's id for it; 0 where the framing has none.
        id: u32,
        /// What it says beside its payload.
        head: RequestHead,
        /// The payload, a slice of the read buffer.
        body: Bytes,
        /// Whether it is to be answered.
        answer: Answer,
        /// What the answer must repeat.
        mirror: M,
    },
    /// A request that can not be handed on, though the stream is still in step: it is answered with the status.
    Refused {
        /// The peer's id for it; 0 where the framing has none.
        id: u32,
        /// Why.
        status: Status,
        /// What the answer must repeat.
        mirror: M,
    },
    /// A call of ours is answered.
    Response {
        /// The id of the request; `None` where answers come in order.
        id: Option<u32>,
        /// The method that the peer says it answers, where the framing carries it and the answer must match.
        method: Option<Bytes>,
        /// What it says beside its payload.
        head: ResponseHead,
        /// The payload, a slice of the read buffer.
        body: Bytes,
    },
    /// The peer takes no new calls on this connection.
    GoAway,
    /// One of the others, and after it the peer takes no new calls.
    Last(Box<Self>),
    /// A message that means nothing to us and may be ignored by the protocol's rules.
    Ignored,
}

impl<M> Frame<M> {
    /// The same with another mirror.
    pub(crate) fn map<N>(self, change: impl FnOnce(M) -> N) -> Frame<N> {
        match self {
            Self::Request { id, head, body, answer, mirror } => {
                Frame::Request { id, head, body, answer, mirror: change(mirror) }
            }
            Self::Refused { id, status, mirror } => Frame::Refused { id, status, mirror: change(mirror) },
            Self::Response { id, method, head, body } => Frame::Response { id, method, head, body },
            Self::GoAway => Frame::GoAway,
            Self::Last(frame) => Frame::Last(Box::new(frame.map(change))),
            Self::Ignored => Frame::Ignored,
        }
    }
}

/// How one message stands in a byte stream, with its envelope around it. Each connection has a clone of its own, so an
/// implementation may keep where a scan stopped.
///
/// Who calls: [`Unary`](crate::Unary), which owns ids, order, limits and the table of calls.
///
/// # Notes for implementers
/// - `decode` consumes exactly one message or nothing. It checks each length against `limit` and against what is there
///   before it allocates anything.
/// - `encode_*` only append; when they fail, the caller cuts off what they appended.
/// - What goes out goes through unchanged or fails: a key that the wire can not spell is an error, not a lossy copy. Where a
///   protocol has no place at all for deadlines or metadata, they are left out.
pub trait Framing: Clone + Send + Sync + 'static {
    /// What payloads it carries. The head's `codec` is a position in this tuple.
    type Codecs: CodecSet;
    /// Whether answers carry ids.
    const ORDER: Order;
    /// How many bytes of a message do not count against the limit: those of its length field.
    const PREFIX: usize;
    /// Whether either side may call the other, so that a client takes requests and a server answers.
    const SYMMETRIC: bool = false;
    /// Whether it carries deadlines, and so has to know the time.
    const TIMED: bool = false;
    /// What an answer must repeat of its request: the peer's id, the method's name, a sub-framing.
    type Mirror: Send + 'static;

    /// The name in errors and traces.
    fn name(&self) -> &'static str;

    /// Appends a request.
    ///
    /// # Errors
    /// When the head has no representation in this framing.
    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError>;

    /// Appends a response, or nothing if its head is silent and the peers of this framing take no answer to such a method,
    /// however they called it.
    ///
    /// # Errors
    /// When the head has no representation in this framing.
    fn encode_response(
        &self,
        to: &Self::Mirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError>;

    /// Takes one message from the front of `src`, or nothing while it is not whole. `limit` is the largest message in bytes.
    ///
    /// # Errors
    /// When the stream can not be followed any further.
    fn decode(&mut self, src: &mut BytesMut, limit: usize)
    -> Result<Option<Frame<Self::Mirror>>, FrameError>;

    /// Says what time it is, before `decode` and before `encode_request`: a framing that carries deadlines puts what remains
    /// of one on the wire, and makes one of what comes from there. Called only where it is [`TIMED`](Self::TIMED).
    fn set_time(&mut self, now: Instant) {
        let _ = now;
    }

    /// This is a client that makes one call after the other: it reads nothing but the answer that it waits for. Default:
    /// nothing.
    fn one_at_a_time(&mut self) {}

    /// A server takes no new calls on this connection: appends what tells the client so, where there is something that may
    /// stand outside of an answer. What comes on answers is up to `encode_response` from now on. Called once. Default:
    /// nothing.
    fn go_away(&mut self, dst: &mut WriteBuf) {
        let _ = dst;
    }

    /// Whether the client hears that the server goes, by what [`go_away`](Self::go_away) wrote or with its next answer. Then
    /// requests that crossed the news are served. Others are refused, since their client would never stop. Default: no.
    fn says_that_it_goes(&self) -> bool {
        false
    }

    /// Whether a connection that begins with these bytes speaks this framing, told by the fewest bytes that suffice.
    fn detect(&self, first: &[u8]) -> Detect;

    /// The codecs, as the framing configures them.
    fn codecs(&self) -> Self::Codecs {
        Default::default()
    }
}
