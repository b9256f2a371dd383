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
/// struct of all arguments. An argument or a response that is no such type is a [`Plain`]. Exceptions are an enum that implements
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

/// A method's one argument, or a response, that is no struct of Apache's: nothing (`Plain<()>`), a number, a text, a
/// container, also of [`Struct`]s.
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

        impl<T: ThriftValue> Encode<Plain<T>> for $codec {
            fn encode(&self, _: Place, message: &Plain<T>, dst: &mut BytesMut) -> Result<(), EncodeError> {
                write_argument(&mut $protocol::Writer::new(dst), |writer| {
                    message.0.write_field(ARGUMENT, writer)
                })
            }
        }

        impl<T: ThriftValue> Decode<Plain<T>> for $codec {
            fn decode(&self, _: Place, src: Bytes) -> Result<Plain<T>, DecodeError> {
                let mut reader = $protocol::Reader::new(src);
                let argument = read_argument(&mut reader, T::TTYPE, T::read)?;
                reader.finish()?;
                Ok(Plain(argument))
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
    write_argument(writer, |writer| {
        writer.field(TType::Struct, ARGUMENT);
        output::write(message, writer)
    })
}

fn read<T: TSerializable>(place: Place, reader: &mut impl ThriftReader) -> Result<T, DecodeError> {
    if place == Place::Message {
        read_argument(reader, TType::Struct, input::read)
    } else {
        input::read(reader)
    }
}

/// Appends the struct of all arguments; `field` appends the field of the one.
fn write_argument<W: ThriftWriter>(
    writer: &mut W,
    field: impl FnOnce(&mut W) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    writer.struct_begin()?;
    field(writer)?;
    writer.struct_end();
    Ok(())
}

/// Reads the struct of all arguments; `value` reads the one, whose type is `argument`.
fn read_argument<T, R: ThriftReader>(
    reader: &mut R,
    argument: TType,
    value: impl Fn(&mut R) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let mut found = None;
    reader.struct_begin()?;
    while let Some(field) = reader.field()? {
        if (field.id, field.ttype) == (ARGUMENT, argument) {
            found = Some(value(reader)?);
        } else {
            reader.skip(field.ttype)?;
        }
    }
    match found {
        Some(found) => Ok(found),
        None if argument == TType::Stop => value(reader), // a method without arguments
        None => Err(DecodeError::new(DecodeErrorKind::Missing, "the argument is missing")),
    }
}
