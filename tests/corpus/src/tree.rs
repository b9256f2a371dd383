//! What is on the wire, whatever the schema says of it.

use bytes::Bytes;
use rpc::DecodeError;
use rpc::thrift::{TType, ThriftReader};

/// A value of Thrift without its definition. Elements of sets and pairs of maps are sorted, since their order is free.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tree {
    /// A bool, a number, text, binary or a UUID: its type, and its bytes in the binary protocol.
    Scalar(u8, Bytes),
    /// The fields in the order of the wire.
    Struct(Vec<(i16, Tree)>),
    /// The type of the elements, and the elements.
    List(u8, Vec<Tree>),
    /// The same of a set.
    Set(u8, Vec<Tree>),
    /// The types of keys and values, and the pairs.
    Map(u8, u8, Vec<(Tree, Tree)>),
}

impl Tree {
    pub(crate) fn of_struct<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        Self::read(reader, TType::Struct)
    }

    fn read<R: ThriftReader>(reader: &mut R, ttype: TType) -> Result<Self, DecodeError> {
        Ok(match ttype {
            TType::Struct => {
                let mut fields = Vec::new();
                reader.struct_begin()?;
                while let Some(field) = reader.field()? {
                    fields.push((field.id, Self::read(reader, field.ttype)?));
                }
                Self::Struct(fields)
            }
            TType::List | TType::Set => {
                let (element, count) = reader.list_begin()?;
                let elements = (0..count).map(|_| Self::read(reader, element)).collect::<Result<Vec<_>, _>>();
                let mut elements = elements?;
                reader.container_end();
                if ttype == TType::List {
                    Self::List(element.number(), elements)
                } else {
                    elements.sort();
                    Self::Set(element.number(), elements)
                }
            }
            TType::Map => {
                let (key, value, count) = reader.map_begin()?;
                let mut pairs = Vec::new();
                for _ in 0..count {
                    pairs.push((Self::read(reader, key)?, Self::read(reader, value)?));
                }
                reader.container_end();
                pairs.sort();
                Self::Map(key.number(), value.number(), pairs)
            }
            scalar => Self::Scalar(scalar.number(), scalar_bytes(reader, scalar)?),
        })
    }

    /// Whether it holds no set and no map of more than one element, so that its bytes are the only ones.
    pub fn has_one_order(&self) -> bool {
        match self {
            Self::Scalar(..) => true,
            Self::Struct(fields) => fields.iter().all(|(_, value)| value.has_one_order()),
            Self::List(_, elements) => elements.iter().all(Self::has_one_order),
            Self::Set(_, elements) => elements.len() < 2 && elements.iter().all(Self::has_one_order),
            Self::Map(_, _, pairs) => {
                pairs.len() < 2
                    && pairs.iter().all(|(key, value)| key.has_one_order() && value.has_one_order())
            }
        }
    }
}

fn scalar_bytes<R: ThriftReader>(reader: &mut R, ttype: TType) -> Result<Bytes, DecodeError> {
    Ok(match ttype {
        TType::Bool => vec![reader.bool()?.into()].into(),
        TType::I8 => reader.i8()?.to_be_bytes().to_vec().into(),
        TType::I16 => reader.i16()?.to_be_bytes().to_vec().into(),
        TType::I32 => reader.i32()?.to_be_bytes().to_vec().into(),
        TType::I64 => reader.i64()?.to_be_bytes().to_vec().into(),
        TType::Double => reader.double()?.to_be_bytes().to_vec().into(),
        TType::Uuid => reader.uuid()?.to_vec().into(),
        TType::String => reader.bytes()?,
        other => {
            reader.skip(other)?; // an error: it is no value
            Bytes::new()
        }
    })
}
