use bytes::{Bytes, BytesMut};
use rpc_core::{
    Codec, Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError, EncodeOutcome,
    Exceptions, Place,
};
use thrift::protocol::TSerializable;

use super::{input, output};
use crate::outcome::{self, RESPONSE};
use crate::{TType, ThriftException, ThriftReader, ThriftStruct, ThriftValue, ThriftWriter, binary, compact};

/// Thrift's binary protocol, for types that implement [`TSerializable`].
///
/// At [`Place::Message`] the type is the method's one argument, and is wrapped as its field 1; at [`Place::Arguments`] it is the
/// struct of all arguments. A response is a type of the same kind, or [`Plain`]. Exceptions are an enum that implements
/// [`ThriftException`], with a [`Struct`] in each variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binary;

/// Thrift's compact protocol, for types that implement [`TSerializable`], as [`Binary`] carries them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compact;

/// A struct, union or exception of Apache's, as a value of this crate's: in an exception, in a [`Plain`] list.
///
/// # Errors
/// Another type that implements [`TSerializable`], such as an enum, is refused when it is written and when it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Struct<T>(pub T);

/// A response that is no struct of Apache's: nothing (`Plain<()>`), a number, a text, a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plain<T>(pub T);

impl<T: TSerializable> ThriftValue for Struct<T> {
    const TTYPE: TType = TType::Struct;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        output::write(&self.0, writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        input::read(reader).map(Self)
    }
}

impl<T: TSerializable> ThriftStruct for Struct<T> {}

macro_rules! codec {
    ($codec:ident, $protocol:ident) => {
        impl Codec for $codec {
            const NAME: &'static str = crate::$codec::NAME;
            const EXCEPTIONS: Exceptions = crate::$codec::EXCEPTIONS;
        }

        impl<T: TSerializable> Encode<T> for $codec {
            fn encode(&self, place: Place, message: &T, dst: &mut BytesMut) -> Result<(), EncodeError> {
                write(place, message, &mut $protocol::Writer::new(dst))
            }
        }

        impl<T: TSerializable> Decode<T> for $codec {
            fn decode(&self, place: Place, src: Bytes) -> Result<T, DecodeError> {
                let mut reader = $protocol::Reader::new(src);
                let message = read(place, &mut reader)?;
                reader.finish()?;
                Ok(message)
            }
        }

        impl<T: TSerializable, E: ThriftException> EncodeOutcome<T, E> for $codec {
            fn encode_outcome(
                &self,
                _: Place,
                outcome: &Result<T, E>,
                dst: &mut BytesMut,
            ) -> Result<(), EncodeError> {
                outcome::write(outcome.as_ref(), &mut $protocol::Writer::new(dst), |response, writer| {
                    writer.field(TType::Struct, RESPONSE);
                    output::write(response, writer)
                })
            }
        }

        impl<T: TSerializable, E: ThriftException> DecodeOutcome<T, E> for $codec {
            fn decode_outcome(&self, _: Place, src: Bytes) -> Result<Result<T, E>, DecodeError> {
                let mut reader = $protocol::Reader::new(src);
                let outcome = outcome::read(&mut reader, TType::Struct, input::read)?;
                reader.finish()?;
                Ok(outcome)
            }
        }

        impl<T: ThriftValue, E: ThriftException> EncodeOutcome<Plain<T>, E> for $codec {
            fn encode_outcome(
                &self,
                _: Place,
                outcome: &Result<Plain<T>, E>,
                dst: &mut BytesMut,
            ) -> Result<(), EncodeError> {
                outcome::write(outcome.as_ref(), &mut $protocol::Writer::new(dst), |response, writer| {
                    response.0.write_field(RESPONSE, writer)
                })
            }
        }

        impl<T: ThriftValue, E: ThriftException> DecodeOutcome<Plain<T>, E> for $codec {
            fn decode_outcome(&self, place: Place, src: Bytes) -> Result<Result<Plain<T>, E>, DecodeError> {
                let outcome: Result<T, E> = crate::$codec.decode_outcome(place, src)?;
                Ok(outcome.map(Plain))
            }
        }
    };
}
codec!(Binary, binary);
codec!(Compact, compact);

/// The id of a method's one argument.
const ARGUMENT: i16 = 1;

fn write<T: TSerializable>(
    place: Place,
    message: &T,
    writer: &mut impl ThriftWriter,
) -> Result<(), EncodeError> {
    if place != Place::Message {
        return output::write(message, writer);
    }
    writer.struct_begin()?;
    writer.field(TType::Struct, ARGUMENT);
    output::write(message, writer)?;
    writer.struct_end();
    Ok(())
}

fn read<T: TSerializable>(place: Place, reader: &mut impl ThriftReader) -> Result<T, DecodeError> {
    if place != Place::Message {
        return input::read(reader);
    }
    let mut message = None;
    reader.struct_begin()?;
    while let Some(field) = reader.field()? {
        match (field.id, field.ttype) {
            (ARGUMENT, TType::Struct) => message = Some(input::read(reader)?),
            (_, ttype) => reader.skip(ttype)?,
        }
    }
    message.ok_or_else(|| DecodeError::new(DecodeErrorKind::Missing, "the argument is missing"))
}
