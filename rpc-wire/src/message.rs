use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use rpc_core::{DecodeError, Name, RequestHead, ResponseHead, Shape, Status};

use crate::{
    Answer, ApplicationErrorKind, Detect, Frame, FrameError, Kind, MessageHead, MessageHeader, WriteBuf,
    status_from_application,
};

/// What an answer repeats of the message that it answers.
#[derive(Clone, Debug)]
pub struct MessageMirror {
    pub(crate) name: Name,
    pub(crate) id: u32,
}

/// A message header as an object: what [`MessageHeader`] can do without saying its codec.
pub(crate) trait Header {
    fn detect(&self, first: &[u8]) -> Detect;
    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError>;
    fn header_len(&self, name: usize, id: u32) -> usize;
    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf);
    fn write_exception(&self, status: &Status, dst: &mut BytesMut);
    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError>;
    fn empty_result(&self) -> &'static [u8];
    fn needs_frame(&self) -> bool;
}

impl<H: MessageHeader> Header for H {
    fn detect(&self, first: &[u8]) -> Detect {
        self.detect(first)
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        self.read(message)
    }

    fn header_len(&self, name: usize, id: u32) -> usize {
        self.header_len(name, id)
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        self.write(kind, name, id, dst);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        self.write_exception(status, dst);
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        self.read_exception(body)
    }

    fn empty_result(&self) -> &'static [u8] {
        H::EMPTY_RESULT
    }

    fn needs_frame(&self) -> bool {
        H::NEEDS_FRAME
    }
}

/// How requests name their service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Not in the message.
    #[default]
    Bare,
    /// In front of the method, as Apache's multiplexed protocol does.
    Qualified,
}

/// A message that is to be put into a stream, with whatever framing around it.
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    pub(crate) id: u32,
    name: Cow<'a, [u8]>,
    body: Cow<'a, Bytes>,
}

impl<'a> Message<'a> {
    /// The message of a request.
    ///
    /// # Errors
    /// When its shape or its service has no representation.
    pub(crate) fn request(
        id: u32,
        head: &'a RequestHead,
        naming: Naming,
        body: &'a Bytes,
    ) -> Result<Self, FrameError> {
        let kind = match head.shape {
            Shape::Unary => Kind::Call,
            Shape::Oneway => Kind::Oneway,
            _ => return Err(FrameError::Unsupported(Cow::Borrowed("these messages can not carry streams"))),
        };
        let (service, method) = (head.service.as_bytes(), head.method.as_bytes());
        let name = if naming == Naming::Bare || service.is_empty() {
            Cow::Borrowed(method)
        } else if service.contains(&SEPARATOR) {
            let detail = "a service with a colon in its name can not stand before a method";
            return Err(FrameError::Unsupported(Cow::Borrowed(detail)));
        } else {
            Cow::Owned([service, &[SEPARATOR], method].concat())
        };
        Ok(Self { kind, name, id, body: Cow::Borrowed(body) })
    }

    /// The message of an answer.
    pub(crate) fn answer<H: Header + ?Sized>(
        header: &H,
        to: &'a MessageMirror,
        head: &ResponseHead,
        body: &'a Bytes,
    ) -> Self {
        let (kind, body) = match &head.status {
            Ok(()) => (Kind::Reply, Cow::Borrowed(body)),
            Err(status) => {
                let mut exception = BytesMut::new();
                header.write_exception(status, &mut exception);
                (Kind::Exception, Cow::Owned(exception.freeze()))
            }
        };
        Self { kind, name: Cow::Borrowed(to.name.as_bytes()), id: to.id, body }
    }

    /// The message of an answer whose outcome stands elsewhere than in the message.
    pub(crate) fn empty_answer<H: Header + ?Sized>(header: &H, to: &'a MessageMirror) -> Self {
        let body = Cow::Owned(Bytes::from_static(header.empty_result()));
        Self { kind: Kind::Reply, name: Cow::Borrowed(to.name.as_bytes()), id: to.id, body }
    }

    /// How many bytes [`put`](Self::put) appends.
    pub(crate) fn len<H: Header + ?Sized>(&self, header: &H) -> usize {
        header.header_len(self.name.len(), self.id) + self.body.len()
    }

    pub(crate) fn put<H: Header + ?Sized>(&self, header: &H, dst: &mut WriteBuf) {
        header.write(self.kind, &self.name, self.id, dst);
        dst.put_bytes(&self.body);
    }
}

/// Reads a message that is whole.
///
/// `mirror` puts what an answer repeats of the message into what it repeats of all.
///
/// # Errors
/// When it has no such header.
#[inline]
pub(crate) fn read<H: Header + ?Sized, M>(
    header: &H,
    mut message: Bytes,
    mirror: impl FnOnce(MessageMirror) -> M,
) -> Result<Frame<M>, FrameError> {
    let head = header.read(&mut message)?;
    let (service, method) = split_name(&head.name);
    let Some(kind) = Kind::from_number(head.kind) else {
        let kind = ApplicationErrorKind::INVALID_MESSAGE_TYPE;
        let status = status_from_application(kind.0, format!("invalid message type {}", head.kind));
        let mirror = mirror(MessageMirror { name: method, id: head.id });
        return Ok(Frame::Refused { id: head.id, status, mirror });
    };
    Ok(match kind {
        Kind::Call | Kind::Oneway => {
            let answer = if kind == Kind::Call { Answer::Wanted } else { Answer::None };
            let shape = if kind == Kind::Call { Shape::Unary } else { Shape::Oneway };
            let mirror = mirror(MessageMirror { name: method.clone(), id: head.id });
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
            let status = header.read_exception(message).unwrap_or_else(|error| {
                Status::unknown(format!("the peer's exception can not be read: {error}"))
            });
            let failure = ResponseHead::failed(status);
            Frame::Response { id: Some(head.id), method: None, head: failure, body: Bytes::new() }
        }
    })
}

/// The largest length that a message's length field can say.
pub(crate) fn checked_len(len: usize) -> Result<u32, FrameError> {
    i32::try_from(len)
        .map(i32::cast_unsigned)
        .map_err(|_| FrameError::Unsupported(Cow::Borrowed("a frame holds at most 2,147,483,647 bytes")))
}

/// Stands between the service and the method in the names of Apache's multiplexed protocol.
const SEPARATOR: u8 = b':';

/// Takes `Service:method` apart. A name without a colon names no service.
fn split_name(name: &Name) -> (Name, Name) {
    match name.as_bytes().iter().position(|byte| *byte == SEPARATOR) {
        Some(colon) => (name.slice(..colon), name.slice(colon + 1..)),
        None => (Name::default(), name.clone()),
    }
}
