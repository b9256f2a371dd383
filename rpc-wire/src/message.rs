use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use rpc_core::{Name, RequestHead, ResponseHead, Shape, Status};

use crate::{
    Answer, ApplicationErrorKind, Frame, FrameError, Kind, MessageHeader, WriteBuf, status_from_application,
};

/// What an answer repeats of the message that it answers.
#[derive(Clone, Debug)]
pub struct MessageMirror {
    pub(crate) name: Name,
    pub(crate) id: u32,
}

/// Messages with one kind of header: what every framing does with them once they are cut out of the stream, and before
/// they are put into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages<H> {
    pub(crate) header: H,
    /// Requests name their service in front of the method, as Apache's multiplexed protocol does.
    pub(crate) multiplexed: bool,
}

/// A message that is to be put into a stream.
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    name: Cow<'a, [u8]>,
    id: u32,
    body: Cow<'a, Bytes>,
}

impl<H: MessageHeader> Messages<H> {
    pub(crate) fn new(header: H) -> Self {
        Self { header, multiplexed: false }
    }

    /// The message of a request.
    ///
    /// # Errors
    /// When its shape or its service has no representation.
    pub(crate) fn request<'a>(
        &self,
        id: u32,
        head: &'a RequestHead,
        body: &'a Bytes,
    ) -> Result<Message<'a>, FrameError> {
        let kind = match head.shape {
            Shape::Unary => Kind::Call,
            Shape::Oneway => Kind::Oneway,
            _ => return Err(FrameError::Unsupported(Cow::Borrowed("these messages can not carry streams"))),
        };
        let (service, method) = (head.service.as_bytes(), head.method.as_bytes());
        let name = if !self.multiplexed || service.is_empty() {
            Cow::Borrowed(method)
        } else if service.contains(&SEPARATOR) {
            let detail = "a service with a colon in its name can not stand before a method";
            return Err(FrameError::Unsupported(Cow::Borrowed(detail)));
        } else {
            Cow::Owned([service, &[SEPARATOR], method].concat())
        };
        Ok(Message { kind, name, id, body: Cow::Borrowed(body) })
    }

    /// The message of an answer.
    pub(crate) fn answer<'a>(
        &self,
        to: &'a MessageMirror,
        head: &ResponseHead,
        body: &'a Bytes,
    ) -> Message<'a> {
        let (kind, body) = match &head.status {
            Ok(()) => (Kind::Reply, Cow::Borrowed(body)),
            Err(status) => {
                let mut exception = BytesMut::new();
                self.header.write_exception(status, &mut exception);
                (Kind::Exception, Cow::Owned(exception.freeze()))
            }
        };
        Message { kind, name: Cow::Borrowed(to.name.as_bytes()), id: to.id, body }
    }

    /// How many bytes [`put`](Self::put) appends. Framings that write a length bound it by [`MAX_LEN`].
    pub(crate) fn len(&self, message: &Message<'_>) -> usize {
        self.header.header_len(message.name.len(), message.id) + message.body.len()
    }

    pub(crate) fn put(&self, message: &Message<'_>, dst: &mut WriteBuf) {
        self.header.write(message.kind, &message.name, message.id, dst);
        dst.put_bytes(&message.body);
    }

    /// Reads a message that is whole.
    ///
    /// # Errors
    /// When it has no such header.
    pub(crate) fn read(&self, mut message: Bytes) -> Result<Frame<MessageMirror>, FrameError> {
        let head = self.header.read(&mut message)?;
        let (service, method) = split_name(&head.name);
        let Some(kind) = Kind::from_number(head.kind) else {
            let kind = ApplicationErrorKind::INVALID_MESSAGE_TYPE;
            let status = status_from_application(kind.0, format!("invalid message type {}", head.kind));
            let mirror = MessageMirror { name: method, id: head.id };
            return Ok(Frame::Refused { id: head.id, status, mirror });
        };
        Ok(match kind {
            Kind::Call | Kind::Oneway => {
                let answer = if kind == Kind::Call { Answer::Wanted } else { Answer::None };
                let shape = if kind == Kind::Call { Shape::Unary } else { Shape::Oneway };
                let mirror = MessageMirror { name: method.clone(), id: head.id };
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
                let head_of_failure = ResponseHead::failed(status);
                Frame::Response { id: Some(head.id), method: None, head: head_of_failure, body: Bytes::new() }
            }
        })
    }
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
