//! Payload: how a value becomes bytes, and bytes a value. Nothing here knows of framings, ids or sockets.

use std::borrow::Cow;
use std::fmt;

use bytes::{Bytes, BytesMut};

/// Where in a call a value stands. Some codecs lay the same value out differently by place: Thrift wraps arguments
/// and results in structs of their own, msgpack-rpc sends arguments as an array of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// All arguments of a method, as one generated struct with a field for each.
    Arguments,
    /// The one message that is a method's whole request, as in Protobuf.
    Message,
    /// The outcome of a method: `Result<Response, Exception>`.
    Result,
    /// A declared exception, where the status carries it ([`Exceptions::InStatus`]).
    Exception,
    /// One item of a stream.
    Item,
}

/// How a codec carries the exceptions that a service definition declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exceptions {
    /// Inside the result, beside the response: the envelope says success. Thrift does this.
    InBody,
    /// Instead of the result: the envelope's status says failure and carries the encoded exception.
    InStatus,
}

/// A payload format. A value of the type is its configuration and is cheap to clone.
///
/// Whether a codec can carry a type is said by [`Encode`] and [`Decode`], so that an illegal pair of a codec and a
/// service definition is an error of the compiler.
pub trait Codec: Clone + Default + fmt::Debug + Send + Sync + 'static {
    /// The short name, also gRPC's content subtype: `"thrift"`, `"proto"`, `"msgpack"`, `"json"`.
    const NAME: &'static str;
    /// How declared exceptions travel.
    const EXCEPTIONS: Exceptions;
}

/// A codec that can write `T`.
pub trait Encode<T: ?Sized>: Codec {
    /// Appends `message` to `dst`. What was in `dst` before stays as it was, also on failure; what a failed call
    /// appended is unspecified, and the caller cuts it off.
    ///
    /// # Errors
    /// When the value has no representation: nested deeper than the limit, longer than a length field can say, an
    /// empty union, a required part missing.
    fn encode(&self, place: Place, message: &T, dst: &mut BytesMut) -> Result<(), EncodeError>;
}

/// A codec that can read `T`.
pub trait Decode<T>: Codec {
    /// Reads one value that fills `src` wholly; bytes left over are an error. Implementations may keep slices of
    /// `src`, so a small value can pin a large read buffer: their documentation says for which types.
    ///
    /// # Errors
    /// When `src` is not exactly one value of `T`. Never panics, whatever `src` holds, and allocates no more than a
    /// small multiple of `src.len()`.
    fn decode(&self, place: Place, src: Bytes) -> Result<T, DecodeError>;
}

/// A codec that can write how a method ended: with a response `R`, or with an exception `E` that it declares. It is a
/// trait of its own, and not [`Encode`] of a `Result`, so that a codec can carry all types of a foreign trait: the
/// compiler can not know that such a trait is not implemented for `Result` one day.
pub trait EncodeOutcome<R, E>: Codec {
    /// Appends `outcome` to `dst`, at [`Place::Result`] or, an exception of a codec that carries it in the status, at
    /// [`Place::Exception`].
    ///
    /// # Errors
    /// As [`Encode::encode`].
    fn encode_outcome(
        &self,
        place: Place,
        outcome: &Result<R, E>,
        dst: &mut BytesMut,
    ) -> Result<(), EncodeError>;
}

/// A codec that can read how a method ended.
pub trait DecodeOutcome<R, E>: Codec {
    /// Reads one outcome that fills `src` wholly.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_outcome(&self, place: Place, src: Bytes) -> Result<Result<R, E>, DecodeError>;
}

/// A fixed list of codecs, as a tuple: what a protocol can carry. The position in the tuple is the [`CodecId`].
pub trait CodecSet: Clone + Default + Send + Sync + 'static {
    /// The codec that clients use unless told otherwise.
    type First: Codec;
    /// The names of all, in order.
    const NAMES: &'static [&'static str];

    /// The codec that clients use unless told otherwise, as it is configured.
    fn first(&self) -> Self::First;
}

/// Which codec of a protocol's [`CodecSet`] a message is written in, by its position there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodecId(pub u8);

macro_rules! codec_sets {
    ($(($first:ident $(, $more:ident)*)),+ $(,)?) => {$(
        impl<$first: Codec $(, $more: Codec)*> CodecSet for ($first, $($more,)*) {
            type First = $first;
            const NAMES: &'static [&'static str] = &[$first::NAME $(, $more::NAME)*];

            fn first(&self) -> $first {
                self.0.clone()
            }
        }
    )+};
}
codec_sets!((A), (A, B), (A, B, D), (A, B, D, E));

/// Why a value could not be written. It is always the caller's fault: nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeError {
    detail: Cow<'static, str>,
    path: Vec<&'static str>,
}

impl EncodeError {
    /// An error with a text that says what about the value is wrong.
    pub fn new(detail: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: detail.into(), path: Vec::new() }
    }

    /// The same error, found inside the named part (`"Bag.id"` or `"id"`). Called from the inside outwards.
    #[must_use]
    pub fn within(mut self, part: &'static str) -> Self {
        self.path.push(part);
        self
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot encode")?;
        write_path(f, &self.path)?;
        write!(f, ": {}", self.detail)
    }
}

impl std::error::Error for EncodeError {}

/// What kind of fault bytes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end inside a value.
    Truncated,
    /// The bytes are not of the format, or not of the type that is wanted.
    Malformed,
    /// A length, a count or a depth is beyond the limit.
    Limit,
    /// A text is not UTF-8.
    NotUtf8,
    /// A required part is missing.
    Missing,
    /// A result holds neither a response nor an exception.
    MissingResult,
    /// Bytes follow the value.
    Leftover,
}

/// Why bytes are not a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError(Box<DecodeFault>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct DecodeFault {
    kind: DecodeErrorKind,
    detail: Cow<'static, str>,
    path: Vec<&'static str>,
}

impl DecodeError {
    /// An error of a kind, with a text that says what was found.
    #[cold]
    pub fn new(kind: DecodeErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(DecodeFault { kind, detail: detail.into(), path: Vec::new() }))
    }

    /// [`DecodeErrorKind::Truncated`].
    #[cold]
    pub fn truncated() -> Self {
        Self::new(DecodeErrorKind::Truncated, "the bytes end inside a value")
    }

    /// The same error, found inside the named part (`"Bag.id"` or `"id"`). Called from the inside outwards.
    #[must_use]
    #[cold]
    pub fn within(mut self, part: &'static str) -> Self {
        self.0.path.push(part);
        self
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> DecodeErrorKind {
        self.0.kind
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot decode")?;
        write_path(f, &self.0.path)?;
        write!(f, ": {}", self.0.detail)
    }
}

impl std::error::Error for DecodeError {}

/// Writes the parts outermost first, though they were noted innermost first.
fn write_path(f: &mut fmt::Formatter<'_>, path: &[&'static str]) -> fmt::Result {
    for (i, part) in path.iter().rev().enumerate() {
        f.write_str(if i == 0 { " " } else { "." })?;
        f.write_str(part)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_part_from_the_outside_in() {
        let error = DecodeError::new(DecodeErrorKind::NotUtf8, "invalid UTF-8 at byte 3")
            .within("text")
            .within("bag");
        assert_eq!(error.to_string(), "cannot decode bag.text: invalid UTF-8 at byte 3");
        let error = EncodeError::new("deeper than 64 levels");
        assert_eq!(error.to_string(), "cannot encode: deeper than 64 levels");
    }
}
