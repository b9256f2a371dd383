//! Values of every shape, which are written and read through the traits alone.

use bytes::{Buf, Bytes, BytesMut};
use codec_thrift::{TType, ThriftReader, ThriftWriter, binary, compact};
use proptest::collection::vec;
use proptest::prelude::*;
use rpc_core::{DecodeError, DecodeErrorKind, EncodeError};
use rpc_wire::{Protocol, WriteBuf};

/// Two hex digits a byte, and a comment behind `#`.
pub(crate) fn golden(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines.flat_map(str::split_whitespace).map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

pub(crate) fn in_frame(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

/// What a protocol has to write.
pub(crate) fn written(protocol: &mut impl Protocol) -> Vec<u8> {
    let mut out = WriteBuf::new();
    protocol.poll_output(&mut out);
    taken(&mut out)
}

pub(crate) fn taken(out: &mut WriteBuf) -> Vec<u8> {
    out.copy_to_bytes(out.remaining()).to_vec()
}

/// A value of any type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    /// Its bits, so that a NaN equals itself.
    Double(u64),
    Bytes(Vec<u8>),
    Uuid([u8; 16]),
    Struct(Vec<(i16, Value)>),
    /// A list or a set.
    List(TType, TType, Vec<Value>),
    Map(TType, TType, Vec<(Value, Value)>),
}

impl Value {
    pub(crate) fn ttype(&self) -> TType {
        match self {
            Self::Bool(_) => TType::Bool,
            Self::I8(_) => TType::I8,
            Self::I16(_) => TType::I16,
            Self::I32(_) => TType::I32,
            Self::I64(_) => TType::I64,
            Self::Double(_) => TType::Double,
            Self::Bytes(_) => TType::String,
            Self::Uuid(_) => TType::Uuid,
            Self::Struct(_) => TType::Struct,
            Self::List(ttype, ..) => *ttype,
            Self::Map(..) => TType::Map,
        }
    }

    pub(crate) fn write(&self, writer: &mut impl ThriftWriter) -> Result<(), EncodeError> {
        match self {
            Self::Bool(value) => writer.bool(*value),
            Self::I8(value) => writer.i8(*value),
            Self::I16(value) => writer.i16(*value),
            Self::I32(value) => writer.i32(*value),
            Self::I64(value) => writer.i64(*value),
            Self::Double(bits) => writer.double(f64::from_bits(*bits)),
            Self::Bytes(bytes) => writer.bytes(bytes)?,
            Self::Uuid(bytes) => writer.uuid(bytes),
            Self::Struct(fields) => {
                writer.struct_begin()?;
                for (id, value) in fields {
                    if let Self::Bool(value) = value {
                        writer.field_bool(*id, *value);
                    } else {
                        writer.field(value.ttype(), *id);
                        value.write(writer)?;
                    }
                }
                writer.struct_end();
            }
            Self::List(_, element, values) => {
                writer.list_begin(*element, values.len())?;
                for value in values {
                    value.write(writer)?;
                }
                writer.container_end();
            }
            Self::Map(key, value, pairs) => {
                writer.map_begin(*key, *value, pairs.len())?;
                for (key, value) in pairs {
                    key.write(writer)?;
                    value.write(writer)?;
                }
                writer.container_end();
            }
        }
        Ok(())
    }

    pub(crate) fn read(ttype: TType, reader: &mut impl ThriftReader) -> Result<Self, DecodeError> {
        Ok(match ttype {
            TType::Stop => {
                return Err(DecodeError::new(DecodeErrorKind::Malformed, "no value has this type"));
            }
            TType::Bool => Self::Bool(reader.bool()?),
            TType::I8 => Self::I8(reader.i8()?),
            TType::I16 => Self::I16(reader.i16()?),
            TType::I32 => Self::I32(reader.i32()?),
            TType::I64 => Self::I64(reader.i64()?),
            TType::Double => Self::Double(reader.double()?.to_bits()),
            TType::String => Self::Bytes(reader.bytes()?.to_vec()),
            TType::Uuid => Self::Uuid(reader.uuid()?),
            TType::Struct => {
                let mut fields = Vec::new();
                reader.struct_begin()?;
                while let Some(field) = reader.field()? {
                    fields.push((field.id, Self::read(field.ttype, reader)?));
                }
                Self::Struct(fields)
            }
            TType::List | TType::Set => {
                let (element, count) = reader.list_begin()?;
                let values = (0..count).map(|_| Self::read(element, reader)).collect::<Result<_, _>>()?;
                reader.container_end();
                Self::List(ttype, element, values)
            }
            TType::Map => {
                let (key, value, count) = reader.map_begin()?;
                let pairs = (0..count).map(|_| Ok((Self::read(key, reader)?, Self::read(value, reader)?)));
                let pairs = pairs.collect::<Result<_, DecodeError>>()?;
                reader.container_end();
                Self::Map(key, value, pairs)
            }
        })
    }
}

/// What a value is made of, since the elements of a container have one type.
#[derive(Clone, Debug)]
enum Shape {
    Scalar(TType),
    Struct(Vec<(i16, Shape)>),
    List(TType, Box<Shape>),
    Map(Box<(Shape, Shape)>),
}

/// Structs of every shape, nested up to six levels.
pub(crate) fn any_struct() -> impl Strategy<Value = Value> {
    let fields = vec((any_id(), any_shape()), 0..8);
    fields.prop_flat_map(|fields| of(&Shape::Struct(fields)))
}

/// Ids of every length, and close to each other as they are in schemas.
fn any_id() -> impl Strategy<Value = i16> {
    prop_oneof![3 => 0_i16..40, 1 => any::<i16>()]
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let scalars = [
        TType::Bool,
        TType::I8,
        TType::I16,
        TType::I32,
        TType::I64,
        TType::Double,
        TType::String,
        TType::Uuid,
    ];
    let scalar = prop::sample::select(scalars.to_vec()).prop_map(Shape::Scalar);
    scalar.prop_recursive(5, 24, 5, |inner| {
        let list = prop::sample::select(vec![TType::List, TType::Set]);
        prop_oneof![
            vec((any_id(), inner.clone()), 0..5).prop_map(Shape::Struct),
            (list, inner.clone()).prop_map(|(ttype, inner)| Shape::List(ttype, Box::new(inner))),
            (inner.clone(), inner).prop_map(|pair| Shape::Map(Box::new(pair))),
        ]
    })
}

fn of(shape: &Shape) -> BoxedStrategy<Value> {
    match shape {
        Shape::Scalar(ttype) => match ttype {
            TType::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
            TType::I8 => any::<i8>().prop_map(Value::I8).boxed(),
            TType::I16 => any::<i16>().prop_map(Value::I16).boxed(),
            TType::I32 => prop_oneof![any::<i32>(), -70..70].prop_map(Value::I32).boxed(),
            TType::I64 => prop_oneof![any::<i64>(), -70_i64..70].prop_map(Value::I64).boxed(),
            TType::Double => any::<u64>().prop_map(Value::Double).boxed(),
            TType::String => prop_oneof![9 => vec(any::<u8>(), 0..20), 1 => vec(any::<u8>(), 120..300)]
                .prop_map(Value::Bytes)
                .boxed(),
            TType::Uuid => any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
            other => panic!("{other:?} is no scalar"),
        },
        Shape::Struct(fields) => {
            let fields: Vec<_> = fields.iter().map(|(id, shape)| (Just(*id), of(shape))).collect();
            fields.prop_map(Value::Struct).boxed()
        }
        Shape::List(ttype, inner) => {
            let (ttype, element) = (*ttype, type_of(inner));
            vec(of(inner), 0..20).prop_map(move |values| Value::List(ttype, element, values)).boxed()
        }
        Shape::Map(pair) => {
            let (key, value) = (type_of(&pair.0), type_of(&pair.1));
            let pairs = vec((of(&pair.0), of(&pair.1)), 0..5);
            pairs.prop_map(move |pairs| Value::Map(key, value, pairs)).boxed()
        }
    }
}

fn type_of(shape: &Shape) -> TType {
    match shape {
        Shape::Scalar(ttype) | Shape::List(ttype, _) => *ttype,
        Shape::Struct(_) => TType::Struct,
        Shape::Map(_) => TType::Map,
    }
}

pub(crate) fn in_binary(value: &Value) -> Vec<u8> {
    let mut dst = BytesMut::new();
    value.write(&mut binary::Writer::new(&mut dst)).unwrap();
    dst.to_vec()
}

pub(crate) fn in_compact(value: &Value) -> Vec<u8> {
    let mut dst = BytesMut::new();
    value.write(&mut compact::Writer::new(&mut dst)).unwrap();
    dst.to_vec()
}

/// Structs in structs, so many of them.
pub(crate) fn nested(levels: usize) -> Value {
    let innermost = Value::Struct(vec![]);
    (1..levels).fold(innermost, |inner, _| Value::Struct(vec![(1, inner)]))
}

/// A reader of either protocol.
pub(crate) trait Reads: ThriftReader + Clone {
    fn over(bytes: &[u8]) -> Self;
    fn end(self) -> Result<(), DecodeError>;
}

macro_rules! reads {
    ($($protocol:ident)+) => {$(
        impl Reads for codec_thrift::$protocol::Reader {
            fn over(bytes: &[u8]) -> Self {
                Self::new(Bytes::copy_from_slice(bytes))
            }

            fn end(self) -> Result<(), DecodeError> {
                self.finish()
            }
        }
    )+};
}
reads!(binary compact);
