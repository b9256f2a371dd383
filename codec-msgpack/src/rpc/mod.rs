//! The msgpack-rpc framing.
//!
//! - `envelope`: the array around each message.
//! - `names`: how a method is named.
//! - `failure`: how a status travels as an error value.
//! - `render`: values of no known form, for people.

mod envelope;
mod failure;
mod names;
mod render;

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use rpc_core::{EncodeError, Name, RequestHead, ResponseHead, Shape, Status};
use rpc_wire::{Answer, Detect, Frame, FrameError, Framing, Order, WriteBuf};

use self::envelope::Envelope;
pub use self::failure::ErrorForm;
pub use self::names::NameFormat;
use crate::MsgPack;
use crate::read::{Item, item};
use crate::walk::{Fault, MAX_DEPTH, Walker};
use crate::write;

/// msgpack-rpc: arrays of MessagePack one behind the other, with no length before them. Either side may call the other.
///
/// | message | |
/// |---|---|
/// | request | `[0, id, method, [parameters]]` |
/// | response | `[1, id, error, result]`: it failed unless the error is nil |
/// | notification: a oneway request, never answered | `[2, method, [parameters]]` |
///
/// Deadlines and metadata have no place in it and are not carried.
///
/// A message's nesting is limited to 64 levels in its payload, a method's name to 1 KiB. An array that is none of these
/// messages ends the connection, since the stream can not be trusted any more; a request with a bad name or with
/// parameters that are no array is answered with a failure.
///
/// Source: `wire/msgpack-rpc.md` (the msgpack-rpc specification; Neovim; Jubatus).
#[derive(Clone, Debug)]
pub struct Rpc {
    codec: MsgPack,
    names: NameFormat,
    whole_names: bool,
    errors: ErrorForm,
    walker: Walker,
}

/// What an answer repeats of its request: the peer's id, and the name of the method where failures name it.
type Mirror = (u32, Name);

/// The longest method name that is taken, in bytes.
const MAX_NAME: usize = 1024;

/// The containers around a payload: the envelope's array, and the map of a declared exception.
const AROUND: usize = 2;

impl Rpc {
    /// Bare method names, and errors as texts.
    pub fn new() -> Self {
        Self {
            codec: MsgPack::new(),
            names: NameFormat::default(),
            whole_names: false,
            errors: ErrorForm::default(),
            walker: Walker::new(MAX_DEPTH + AROUND),
        }
    }

    /// The codec, for clients and servers. What the envelope itself holds is written in the same dialect.
    #[must_use]
    pub fn with_codec(mut self, codec: MsgPack) -> Self {
        self.codec = codec;
        self
    }

    /// How clients name a method. Default: [`NameFormat::Bare`].
    #[must_use]
    pub fn names(mut self, format: NameFormat) -> Self {
        self.names = format;
        self
    }

    /// Takes the names of methods as they stand. Default: off, so that a name with a slash, else with a dot, names its
    /// service too: `Service.method`, `pkg.Service/method`. Turn it on for foreign services that have dots in the names of
    /// their methods, and in proxies, which should hand names on unchanged.
    #[must_use]
    pub fn whole_names(mut self, on: bool) -> Self {
        self.whole_names = on;
        self
    }

    /// How servers write a failure. Default: [`ErrorForm::Text`]. Clients read every form.
    #[must_use]
    pub fn errors(mut self, form: ErrorForm) -> Self {
        self.errors = form;
        self
    }

    fn request(&self, id: Option<u32>, method: Result<Name, Status>, params: Bytes) -> Frame<Mirror> {
        let named = method.as_ref().ok().filter(|_| self.errors.names_methods());
        let mirror = (id.unwrap_or_default(), named.cloned().unwrap_or_default());
        let checked = method.and_then(|name| match item(&params) {
            Ok((Item::Array(_), _)) => Ok(name),
            _ => Err(Status::invalid_argument("the parameters are not an array")),
        });
        match (checked, id) {
            (Ok(name), _) => {
                let (service, method) =
                    if self.whole_names { names::whole(name) } else { names::split(name) };
                let (shape, answer) = match id {
                    Some(_) => (Shape::Unary, Answer::Wanted),
                    None => (Shape::Oneway, Answer::None),
                };
                let head = RequestHead { service, method, shape, ..RequestHead::default() };
                Frame::Request { id: mirror.0, head, body: params, answer, mirror }
            }
            (Err(status), Some(id)) => Frame::Refused { id, status, mirror },
            (Err(_), None) => Frame::Ignored,
        }
    }
}

impl Default for Rpc {
    fn default() -> Self {
        Self::new()
    }
}

impl Framing for Rpc {
    type Codecs = (MsgPack,);
    type Mirror = Mirror;
    const ORDER: Order = Order::ById;
    const PREFIX: usize = 0;
    const SYMMETRIC: bool = true;

    fn name(&self) -> &'static str {
        "msgpack-rpc"
    }

    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        // Anything else would put the stream out of step, and with it all other calls.
        if !matches!(item(body), Ok((Item::Array(_), _))) {
            return Err(FrameError::Unsupported(Cow::Borrowed("msgpack-rpc takes an array of parameters")));
        }
        let out = dst.tail_mut();
        match head.shape {
            Shape::Unary => envelope::request(out, id),
            Shape::Oneway => envelope::notification(out),
            _ => return Err(FrameError::Unsupported(Cow::Borrowed("msgpack-rpc has no streams"))),
        }
        let name = self.names.name(head);
        if name.len() > MAX_NAME {
            let detail = format!("a method's name of {} bytes; {MAX_NAME} are allowed", name.len());
            return Err(FrameError::Unsupported(detail.into()));
        }
        write::str(out, &name, self.codec.dialect()).map_err(unsupported)?;
        dst.put_bytes(body);
        Ok(())
    }

    fn encode_response(
        &self,
        (id, method): &Mirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        let out = dst.tail_mut();
        envelope::response(out, *id);
        match &head.status {
            Ok(()) => {
                write::nil(out);
                if body.is_empty() { write::nil(out) } else { dst.put_bytes(body) }
            }
            Err(status) => {
                self.errors.write(status, method, self.codec.dialect(), out).map_err(unsupported)?;
            }
        }
        Ok(())
    }

    fn decode(&mut self, src: &mut BytesMut, limit: usize) -> Result<Option<Frame<Mirror>>, FrameError> {
        let Some(first) = src.first() else { return Ok(None) };
        envelope::check_start(*first)?;
        let len = match self.walker.walk(src, limit) {
            Ok(Some(len)) => len,
            Ok(None) => return Ok(None),
            Err(Fault::Reserved) => {
                return Err(FrameError::malformed("the byte c1, which stands for nothing"));
            }
            Err(Fault::TooDeep) => {
                return Err(FrameError::malformed(format!("nested deeper than {MAX_DEPTH} levels")));
            }
            Err(Fault::TooLarge(claimed)) => return Err(FrameError::too_large(claimed, limit)),
        };
        self.walker.restart();
        let message = src.split_to(len).freeze();
        Ok(Some(match envelope::parse(message)? {
            Envelope::Request { id, method, params } => self.request(Some(id), method, params),
            Envelope::Notification { method, params } => self.request(None, method, params),
            Envelope::Response { id, error, result } => {
                let (head, body) = match failure::read(&error, &result) {
                    None => (ResponseHead::ok(), result),
                    Some(status) => (ResponseHead::failed(status), Bytes::new()),
                };
                Frame::Response { id: Some(id), method: None, head, body }
            }
        }))
    }

    fn detect(&self, first: &[u8]) -> Detect {
        envelope::detect(first)
    }

    fn codecs(&self) -> (MsgPack,) {
        (self.codec,)
    }
}

fn unsupported(error: EncodeError) -> FrameError {
    FrameError::Unsupported(error.to_string().into())
}

#[cfg(test)]
mod jubatus;
#[cfg(test)]
mod tests;
