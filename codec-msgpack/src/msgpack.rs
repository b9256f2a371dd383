use bytes::{Bytes, BytesMut};
use rpc_core::{
    Codec, Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError, EncodeOutcome,
    Exceptions, Place,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::de::Deserializer;
use crate::read::{Item, item};
use crate::ser::{Serializer, Top};
use crate::write::{self, Dialect};

/// MessagePack, for every type that is serde's.
///
/// | serde | written as | read from |
/// |---|---|---|
/// | integers | the shortest form | any form whose value fits; nothing wraps |
/// | floats | 32 or 64 bits, as the type says | either, rounded; an integer that is a float exactly |
/// | text | str | str or bin, which must be UTF-8 |
/// | bytes (`serialize_bytes`) | bin | bin or str |
/// | `Vec<u8>` and the like | an array of numbers, since serde can not tell | that, or bin |
/// | struct | an array of the fields in their order, or a map by name ([`structs_as_maps`](Self::structs_as_maps)) | either; what is not known is left out |
/// | tuple struct | an array | an array; more elements are left out |
/// | tuple, list, map | array, map | the same |
/// | unit variant | its name | its name, or its place in the list |
/// | any other variant | a map of one pair: its name, and what it holds | the same |
/// | newtype, `Some` | what is in it | the same |
/// | `None`, the unit | nil | nil |
/// | newtype named `_ExtStruct` around an `i8` and bytes | ext | ext |
///
/// A field that derived code leaves out (`skip_serializing_if`) keeps its place in an array as a nil.
///
/// By place: arguments are the array of a method's parameters, whatever structs are; a message is an array with it
/// as the one element; of a result only the response or the exception is there, since the envelope says which it is.
///
/// What is read is copied, so that no value keeps a read buffer alive. Nesting is limited to 64 levels both ways. Lengths
/// and counts are checked against the bytes that are there before anything is allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MsgPack {
    structs_as_maps: bool,
    dialect: Dialect,
}

impl MsgPack {
    /// Structs as arrays, in the current dialect.
    pub const fn new() -> Self {
        Self { structs_as_maps: false, dialect: Dialect::Current }
    }

    /// Structs are written as maps by name: larger and slower, but peers need not know the order of the fields. Default: off.
    /// Both are read always.
    #[must_use]
    pub const fn structs_as_maps(mut self, on: bool) -> Self {
        self.structs_as_maps = on;
        self
    }

    /// Writes what peers from before 2013 can read: bytes as texts, no 8-bit length of a text, and no ext. Default: off.
    /// Turn it on for Jubatus and for the msgpack project's own Python library. Both dialects are read always.
    #[must_use]
    pub const fn raw_compat(mut self, on: bool) -> Self {
        self.dialect = if on { Dialect::Raw } else { Dialect::Current };
        self
    }

    pub(crate) fn dialect(self) -> Dialect {
        self.dialect
    }

    fn write<T: Serialize + ?Sized>(
        self,
        top: Top,
        depth: usize,
        message: &T,
        dst: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        let mut serializer = Serializer::new(dst, self.structs_as_maps, self.dialect, top, depth);
        message.serialize(&mut serializer).map_err(|error| error.0)
    }
}

impl Codec for MsgPack {
    const NAME: &'static str = "msgpack";
    const EXCEPTIONS: Exceptions = Exceptions::InStatus;
}

impl<T: Serialize + ?Sized> Encode<T> for MsgPack {
    fn encode(&self, place: Place, message: &T, dst: &mut BytesMut) -> Result<(), EncodeError> {
        match place {
            Place::Arguments => {
                let start = dst.len();
                self.write(Top::Arguments, 0, message, dst)?;
                match dst.get(start..).map(item) {
                    Some(Ok((Item::Array(_), _))) => Ok(()),
                    _ => Err(EncodeError::new("arguments must be a struct, a tuple or a list")),
                }
            }
            Place::Message => {
                write::array(dst, 1)?;
                self.write(Top::Value, 1, message, dst)
            }
            Place::Result | Place::Exception | Place::Item => self.write(Top::Value, 0, message, dst),
        }
    }
}

impl<T: DeserializeOwned> Decode<T> for MsgPack {
    fn decode(&self, place: Place, src: Bytes) -> Result<T, DecodeError> {
        let top = match place {
            Place::Arguments => Top::Arguments,
            _ => Top::Value,
        };
        let mut deserializer = Deserializer::new(&src, top);
        let mut surplus = 0;
        match place {
            Place::Arguments => deserializer.expect_array()?,
            Place::Message => {
                surplus = deserializer.enter_params()?.checked_sub(1).ok_or_else(|| {
                    DecodeError::new(DecodeErrorKind::Missing, "the array of parameters is empty")
                })?;
            }
            _ => {}
        }
        let value = T::deserialize(&mut deserializer).map_err(|error| error.0)?;
        deserializer.skip(surplus)?;
        deserializer.finish()?;
        Ok(value)
    }
}

impl<R: Serialize, E: Serialize> EncodeOutcome<R, E> for MsgPack {
    fn encode_outcome(
        &self,
        place: Place,
        outcome: &Result<R, E>,
        dst: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        match outcome {
            Ok(response) => self.encode(place, response, dst),
            Err(exception) => self.encode(place, exception, dst),
        }
    }
}

impl<R: DeserializeOwned, E: DeserializeOwned> DecodeOutcome<R, E> for MsgPack {
    fn decode_outcome(&self, place: Place, src: Bytes) -> Result<Result<R, E>, DecodeError> {
        match place {
            Place::Exception => self.decode(place, src).map(Err),
            _ => self.decode(place, src).map(Ok),
        }
    }
}
