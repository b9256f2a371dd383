use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use bytes::Bytes;
use rpc_core::{DecodeError, DecodeErrorKind, EncodeError};

use crate::{TType, ThriftReader, ThriftWriter};

/// A value that can stand in a field, a container or a result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Thrift type",
    note = "types from `.proto` files go over Protobuf and MessagePack, plain serde types over MessagePack"
)]
pub trait ThriftValue: Sized {
    /// Its type on the wire.
    const TTYPE: TType;

    /// Appends the value, without a field header.
    ///
    /// # Errors
    /// When it has no representation: nested too deep, too long, an empty union.
    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError>;

    /// Reads a value whose tag has been seen to be [`Self::TTYPE`].
    ///
    /// # Errors
    /// When the bytes are no such value.
    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError>;

    /// Appends the value as a field.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn write_field<W: ThriftWriter>(&self, id: i16, writer: &mut W) -> Result<(), EncodeError> {
        writer.field(Self::TTYPE, id);
        self.write(writer)
    }
}

/// A struct, a union or an exception: a value that can be a whole message. Its `write` goes from `struct_begin` to
/// `struct_end`; its `read` leaves fields of unknown ids out, and known ones of another type, and fails when a required field
/// is missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Thrift struct",
    note = "types from `.proto` files go over Protobuf and MessagePack, plain serde types over MessagePack"
)]
pub trait ThriftStruct: ThriftValue {}

macro_rules! base_types {
    ($($type:ty = $ttype:ident, $method:ident;)+) => {$(
        impl ThriftValue for $type {
            const TTYPE: TType = TType::$ttype;

            fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
                writer.$method(*self);
                Ok(())
            }

            fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
                reader.$method()
            }
        }
    )+};
}
base_types! {
    i8 = I8, i8;
    i16 = I16, i16;
    i32 = I32, i32;
    i64 = I64, i64;
    f64 = Double, double;
}

impl ThriftValue for bool {
    const TTYPE: TType = TType::Bool;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.bool(*self);
        Ok(())
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.bool()
    }

    fn write_field<W: ThriftWriter>(&self, id: i16, writer: &mut W) -> Result<(), EncodeError> {
        writer.field_bool(id, *self);
        Ok(())
    }
}

impl ThriftValue for String {
    const TTYPE: TType = TType::String;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.bytes(self.as_bytes())
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.string()
    }
}

impl ThriftValue for Bytes {
    const TTYPE: TType = TType::String;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.bytes(self)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.bytes()
    }
}

/// A UUID.
impl ThriftValue for [u8; 16] {
    const TTYPE: TType = TType::Uuid;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.uuid(self);
        Ok(())
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.uuid()
    }
}

/// A field of a recursive type.
impl<T: ThriftValue> ThriftValue for Box<T> {
    const TTYPE: TType = T::TTYPE;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        (**self).write(writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        T::read(reader).map(Box::new)
    }
}

/// What a method without a result returns. It is never written.
impl ThriftValue for () {
    const TTYPE: TType = TType::Stop;

    fn write<W: ThriftWriter>(&self, _: &mut W) -> Result<(), EncodeError> {
        Ok(())
    }

    fn read<R: ThriftReader>(_: &mut R) -> Result<Self, DecodeError> {
        Ok(())
    }

    fn write_field<W: ThriftWriter>(&self, _: i16, _: &mut W) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<T: ThriftValue> ThriftValue for Vec<T> {
    const TTYPE: TType = TType::List;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        write_elements::<T, W>(self.iter(), writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        let mut list = Vec::new();
        read_elements(reader, &mut list, |list, count| list.reserve_exact(count), Vec::push)?;
        Ok(list)
    }
}

/// Elements that come more than once count once.
impl<T: ThriftValue + Eq + Hash, S: BuildHasher + Default> ThriftValue for HashSet<T, S> {
    const TTYPE: TType = TType::Set;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        write_elements::<T, W>(self.iter(), writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        let mut set = HashSet::default();
        read_elements(reader, &mut set, HashSet::reserve, |set, element| {
            set.insert(element);
        })?;
        Ok(set)
    }
}

/// Elements that come more than once count once.
impl<T: ThriftValue + Ord> ThriftValue for BTreeSet<T> {
    const TTYPE: TType = TType::Set;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        write_elements::<T, W>(self.iter(), writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        let mut set = BTreeSet::new();
        read_elements(
            reader,
            &mut set,
            |_, _| (),
            |set, element| {
                set.insert(element);
            },
        )?;
        Ok(set)
    }
}

/// Of a key that comes more than once the last value counts.
impl<K: ThriftValue + Eq + Hash, V: ThriftValue, S: BuildHasher + Default> ThriftValue for HashMap<K, V, S> {
    const TTYPE: TType = TType::Map;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        write_pairs(self.iter(), writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        let mut map = HashMap::default();
        read_pairs(reader, &mut map, HashMap::reserve, |map, key, value| {
            map.insert(key, value);
        })?;
        Ok(map)
    }
}

/// Of a key that comes more than once the last value counts.
impl<K: ThriftValue + Ord, V: ThriftValue> ThriftValue for BTreeMap<K, V> {
    const TTYPE: TType = TType::Map;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        write_pairs(self.iter(), writer)
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        let mut map = BTreeMap::new();
        read_pairs(
            reader,
            &mut map,
            |_, _| (),
            |map, key, value| {
                map.insert(key, value);
            },
        )?;
        Ok(map)
    }
}

fn write_elements<'a, T: ThriftValue + 'a, W: ThriftWriter>(
    elements: impl ExactSizeIterator<Item = &'a T>,
    writer: &mut W,
) -> Result<(), EncodeError> {
    writer.list_begin(T::TTYPE, elements.len())?;
    for element in elements {
        element.write(writer)?;
    }
    writer.container_end();
    Ok(())
}

fn read_elements<T: ThriftValue, C, R: ThriftReader>(
    reader: &mut R,
    into: &mut C,
    reserve: impl FnOnce(&mut C, usize),
    mut add: impl FnMut(&mut C, T),
) -> Result<(), DecodeError> {
    let (found, count) = reader.list_begin()?;
    check(T::TTYPE, found, count)?;
    reserve(into, bounded::<T>(count));
    for _ in 0..count {
        add(into, T::read(reader)?);
    }
    reader.container_end();
    Ok(())
}

fn write_pairs<'a, K: ThriftValue + 'a, V: ThriftValue + 'a, W: ThriftWriter>(
    pairs: impl ExactSizeIterator<Item = (&'a K, &'a V)>,
    writer: &mut W,
) -> Result<(), EncodeError> {
    writer.map_begin(K::TTYPE, V::TTYPE, pairs.len())?;
    for (key, value) in pairs {
        key.write(writer)?;
        value.write(writer)?;
    }
    writer.container_end();
    Ok(())
}

fn read_pairs<K: ThriftValue, V: ThriftValue, C, R: ThriftReader>(
    reader: &mut R,
    into: &mut C,
    reserve: impl FnOnce(&mut C, usize),
    mut add: impl FnMut(&mut C, K, V),
) -> Result<(), DecodeError> {
    let (key, value, count) = reader.map_begin()?;
    check(K::TTYPE, key, count)?;
    check(V::TTYPE, value, count)?;
    reserve(into, bounded::<(K, V)>(count));
    for _ in 0..count {
        let key = K::read(reader)?;
        add(into, key, V::read(reader)?);
    }
    reader.container_end();
    Ok(())
}

/// Elements of another type can not be told apart, and so not be left out; an empty container has no type.
fn check(wanted: TType, found: TType, count: usize) -> Result<(), DecodeError> {
    if found == wanted || count == 0 {
        return Ok(());
    }
    let detail = format!("elements of type {} where {} is declared", found.name(), wanted.name());
    Err(DecodeError::new(DecodeErrorKind::Malformed, detail))
}

/// How many elements to reserve for: an element of one byte on the wire may be large in memory, so that a count within the
/// message's length could still ask for many times that.
fn bounded<T>(count: usize) -> usize {
    count.min(RESERVE_AT_MOST / size_of::<T>().max(1))
}

/// Bytes that are reserved by a count alone; beyond, a container grows as elements come.
const RESERVE_AT_MOST: usize = 64 * 1024;
