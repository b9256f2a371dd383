use std::borrow::Cow;

use bytes::{Buf, Bytes, BytesMut};
use rpc_core::{Name, RequestHead, ResponseHead, Shape, Status};

use crate::{
    Answer, ApplicationErrorKind, Detect, Frame, FrameError, Framing, Kind, MessageHeader, Order, WriteBuf,
    status_from_application,
};

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
}

impl<H: MessageHeader> Framed<H> {
    /// The framing around messages with this header.
    pub fn new(header: H) -> Self {
        Self { header }
    }

    fn put(
        &self,
        kind: Kind,
        name: &[u8],
        id: u32,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        let len = self.header.header_len(name.len()) + body.len();
        let len = u32::try_from(len).ok().filter(|len| i32::try_from(*len).is_ok());
        let len =
            len.ok_or(FrameError::Unsupported(Cow::Borrowed("a frame holds at most 2,147,483,647 bytes")))?;
        dst.put_u32(len);
        self.header.write(kind, name, id, dst);
        dst.put_bytes(body);
        Ok(())
    }
}

/// What an answer to a framed message repeats.
#[derive(Clone, Debug)]
pub struct FramedMirror {
    name: Name,
    id: u32,
}

const PREFIX: usize = 4;

impl<H: MessageHeader> Framing for Framed<H> {
    type Codecs = (H::Codec,);
    type Mirror = FramedMirror;
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
        let kind = match head.shape {
            Shape::Unary => Kind::Call,
            Shape::Oneway => Kind::Oneway,
            _ => return Err(FrameError::Unsupported(Cow::Borrowed("framed messages can not carry streams"))),
        };
        self.put(kind, head.method.as_bytes(), id, body, dst)
    }

    fn encode_response(
        &self,
        to: &FramedMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        match &head.status {
            Ok(()) => self.put(Kind::Reply, to.name.as_bytes(), to.id, body, dst),
            Err(status) => {
                let mut exception = BytesMut::new();
                self.header.write_exception(status, &mut exception);
                self.put(Kind::Exception, to.name.as_bytes(), to.id, &exception.freeze(), dst)
            }
        }
    }

    fn decode(
        &mut self,
        src: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Frame<FramedMirror>>, FrameError> {
        let Some(prefix) = src.first_chunk::<PREFIX>() else { return Ok(None) };
        let claimed = u32::from_be_bytes(*prefix);
        let len = match usize::try_from(claimed) {
            Ok(0) => return Err(FrameError::malformed("a frame of length 0")),
            Ok(len) if len <= limit => len,
            _ => return Err(not_a_length(*prefix, limit)),
        };
        if src.len() - PREFIX < len {
            return Ok(None);
        }
        let mut message = src.split_to(PREFIX + len).freeze();
        message.advance(PREFIX);
        let head = self.header.read(&mut message)?;
        let (service, method) = split_name(&head.name);
        let Some(kind) = Kind::from_number(head.kind) else {
            let kind = ApplicationErrorKind::INVALID_MESSAGE_TYPE;
            let status = status_from_application(kind.0, format!("invalid message type {}", head.kind));
            let mirror = FramedMirror { name: method, id: head.id };
            return Ok(Some(Frame::Refused { id: head.id, status, mirror }));
        };
        Ok(Some(match kind {
            Kind::Call | Kind::Oneway => {
                let answer = if kind == Kind::Call { Answer::Wanted } else { Answer::None };
                let shape = if kind == Kind::Call { Shape::Unary } else { Shape::Oneway };
                let mirror = FramedMirror { name: method.clone(), id: head.id };
                let request = RequestHead { service, method, shape, ..RequestHead::default() };
                Frame::Request { id: head.id, head: request, body: message, answer, mirror }
            }
            Kind::Reply => Frame::Response {
                id: Some(head.id),
                method: Some(head.name.into_bytes()),
                head: ResponseHead::ok(),
                body: message,
            },
            Kind::Exception => {
                // Neither the name nor, with some proxies, the id of an exception can be relied on; the id is all there is.
                let status = self.header.read_exception(message).unwrap_or_else(|error| {
                    Status::unknown(format!("the peer's exception can not be read: {error}"))
                });
                Frame::Response {
                    id: Some(head.id),
                    method: None,
                    head: ResponseHead::failed(status),
                    body: Bytes::new(),
                }
            }
        }))
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
fn not_a_length(prefix: [u8; PREFIX], limit: usize) -> FrameError {
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

/// Takes `Service:method` apart. A name without a colon names no service.
fn split_name(name: &Name) -> (Name, Name) {
    match name.as_bytes().iter().position(|byte| *byte == b':') {
        Some(colon) => (name.slice(..colon), name.slice(colon + 1..)),
        None => (Name::default(), name.clone()),
    }
}
