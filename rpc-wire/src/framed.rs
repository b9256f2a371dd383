use bytes::{Buf, Bytes, BytesMut};
use rpc_core::{RequestHead, ResponseHead};

use crate::message::{self, Header, Message, Naming, checked_len};
use crate::{Detect, Frame, FrameError, Framing, MessageHeader, MessageMirror, Order, WriteBuf};

/// Thrift's framed transport: four bytes of length in network order, then one message with its header.
///
/// A name of the form `Service:method` names the service too, as Apache's multiplexed protocol writes it; the answer
/// carries the bare method, as Apache's servers write it.
///
/// A frame of length 0 is refused and ends the connection: no deployed peer sends one.
///
/// Source: `wire/thrift.md` §4, §10 (Apache's *Thrift Remote Procedure Call*; Kitex's framed transport).
#[derive(Clone, Debug, Default)]
pub struct Framed<H> {
    header: H,
    naming: Naming,
}

impl<H: MessageHeader> Framed<H> {
    /// The framing around messages with this header.
    pub fn new(header: H) -> Self {
        Self { header, naming: Naming::Bare }
    }

    /// The same, but requests call `Service:method`, which is what servers of several services behind Apache's
    /// multiplexed processor want. A request that names no service calls `method`.
    #[must_use]
    pub fn multiplexed(mut self) -> Self {
        self.naming = Naming::Qualified;
        self
    }
}

/// Appends a message in a frame.
pub(crate) fn put<H: Header + ?Sized>(
    header: &H,
    message: &Message<'_>,
    dst: &mut WriteBuf,
) -> Result<(), FrameError> {
    dst.put_u32(checked_len(message.len(header))?);
    message.put(header, dst);
    Ok(())
}

/// The bytes of a frame's length.
pub(crate) const PREFIX: usize = 4;

/// How many bytes the frame at the front of `src` has, its length's own included; `None` while it is not whole.
pub(crate) fn whole(src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
    let Some(prefix) = src.first_chunk::<PREFIX>() else { return Ok(None) };
    let len = match usize::try_from(u32::from_be_bytes(*prefix)) {
        Ok(0) => return Err(FrameError::malformed("a frame of length 0")),
        Ok(len) if len <= limit => len,
        _ => return Err(not_a_length(*prefix, limit)),
    };
    Ok((src.len() - PREFIX >= len).then_some(PREFIX + len))
}

impl<H: MessageHeader> Framing for Framed<H> {
    type Codecs = (H::Codec,);
    type Mirror = MessageMirror;
    const ORDER: Order = Order::ById;
    const PREFIX: usize = PREFIX;

    fn name(&self) -> &'static str {
        H::FRAMED_NAME
    }

    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        put(&self.header, &Message::request(id, head, self.naming, body)?, dst)
    }

    fn encode_response(
        &self,
        to: &MessageMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        if head.silent {
            return Ok(());
        }
        put(&self.header, &Message::answer(&self.header, to, head, body), dst)
    }

    fn decode(
        &mut self,
        src: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Frame<MessageMirror>>, FrameError> {
        let Some(len) = whole(src, limit)? else { return Ok(None) };
        let mut message = src.split_to(len).freeze();
        message.advance(PREFIX);
        message::read(&self.header, message, |mirror| mirror).map(Some)
    }

    fn detect(&self, first: &[u8]) -> Detect {
        // The limit is not known here; 0 and 1 are the first bytes of lengths up to 32 MiB.
        match first.split_at_checked(PREFIX) {
            Some((_, [])) | None => match first.first() {
                Some(0 | 1) | None => Detect::NeedMore,
                Some(_) => Detect::No,
            },
            Some((prefix, message)) => match prefix.first() {
                Some(0 | 1) => self.header.detect(message),
                _ => Detect::No,
            },
        }
    }

    fn codecs(&self) -> (H::Codec,) {
        (self.header.codec(),)
    }
}

/// Four bytes that are no length within the limit: says what they look like, since it is mostly a client that speaks
/// something else.
#[cold]
pub(crate) fn not_a_length(prefix: [u8; PREFIX], limit: usize) -> FrameError {
    let looks_like = match prefix {
        [b'A'..=b'Z', b'A'..=b'Z', b'A'..=b'Z', b'A'..=b'Z' | b' '] => "HTTP",
        [0x16, 0x03, ..] => "TLS",
        [0x80, 0x01, 0x00, _] => "unframed Thrift binary",
        [0x82, ..] => "unframed Thrift compact",
        [0x93 | 0x94, ..] => "msgpack-rpc",
        _ => return FrameError::too_large(u32::from_be_bytes(prefix).into(), limit),
    };
    FrameError::malformed(format!("not a frame: it looks like {looks_like}"))
}
