//! Any of serde's values to MessagePack. The table is on [`MsgPack`](crate::MsgPack).

use std::fmt;

use bytes::BytesMut;
use rpc_core::EncodeError;
use serde::Serialize;
use serde::ser;

use crate::read::{Item, item};
use crate::text::short;
use crate::walk::MAX_DEPTH;
use crate::write::{self, Dialect};

/// What the outermost value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// A value like any other.
    Value,
    /// A method's arguments, which are an array whatever structs are.
    Arguments,
}

/// The name under which serde's types for MessagePack mark a newtype as an application's own type.
pub(crate) const EXT: &str = "_ExtStruct";

/// Writes one value behind what `dst` holds.
#[derive(Debug)]
pub(crate) struct Serializer<'a> {
    dst: &'a mut BytesMut,
    /// Structs are maps by name.
    named: bool,
    dialect: Dialect,
    top: Top,
    /// Open containers.
    depth: usize,
    /// Newtypes and options around the value, which write no byte and so do not count as depth.
    wrapped: usize,
}

impl<'a> Serializer<'a> {
    /// `depth` counts the containers that are open already.
    pub(crate) fn new(dst: &'a mut BytesMut, named: bool, dialect: Dialect, top: Top, depth: usize) -> Self {
        Self { dst, named, dialect, top, depth, wrapped: 0 }
    }

    /// Begins a container. `count` is corrected at its end if it turns out to be wrong.
    fn open(&mut self, container: Container, count: Option<usize>) -> Result<(), Error> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.depth += 1;
        self.wrapped = 0;
        Ok(container.write(self.dst, count.unwrap_or(0))?)
    }

    fn compound(&mut self, container: Container, count: Option<usize>) -> Result<Compound<'_, 'a>, Error> {
        let start = self.dst.len();
        self.open(container, count)?;
        let contents = self.dst.len();
        Ok(Compound { ser: self, container, announced: count.unwrap_or(0), written: 0, start, contents })
    }

    /// The fields of a struct.
    fn fields(&mut self, count: usize) -> Result<Compound<'_, 'a>, Error> {
        let as_array = !self.named || (self.top == Top::Arguments && self.depth == 0);
        self.compound(if as_array { Container::Array } else { Container::Map }, Some(count))
    }

    /// Begins a variant that holds something.
    fn variant(&mut self, name: &str) -> Result<(), Error> {
        self.open(Container::Map, Some(1))?;
        Ok(write::str(self.dst, name.as_bytes(), self.dialect)?)
    }

    /// What is in a newtype or an option.
    fn wrapped<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if self.wrapped >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.wrapped += 1;
        value.serialize(&mut *self)?;
        self.wrapped = self.wrapped.saturating_sub(1);
        Ok(())
    }

    /// A value of an application's own type: serde hands it on as a pair of its type and its bytes.
    fn ext<T: Serialize + ?Sized>(&mut self, pair: &T) -> Result<(), Error> {
        let wrong = || EncodeError::new("an ext value is a pair of an i8 and bytes");
        if self.dialect == Dialect::Raw {
            return Err(Error(EncodeError::new("the old dialect has no ext values")));
        }
        let mut buffer = BytesMut::new();
        pair.serialize(&mut Serializer::new(&mut buffer, false, self.dialect, Top::Value, self.depth))?;
        let mut rest = &buffer[..];
        let mut next = || {
            let (item, len) = item(rest).map_err(|_| wrong())?;
            rest = rest.get(len..).unwrap_or_default();
            Ok::<_, EncodeError>(item)
        };
        let kind = match (next()?, next()?, next()?) {
            (Item::Array(2), Item::Uint(kind), Item::Bin(_)) => i8::try_from(kind).map_err(|_| wrong())?,
            (Item::Array(2), Item::Int(kind), Item::Bin(_)) => i8::try_from(kind).map_err(|_| wrong())?,
            _ => return Err(Error(wrong())),
        };
        Ok(write::ext(self.dst, kind, rest)?)
    }
}

#[cold]
fn too_deep() -> Error {
    Error(EncodeError::new(format!("nested deeper than {MAX_DEPTH} levels")))
}

#[derive(Clone, Copy, Debug)]
enum Container {
    Array,
    Map,
}

impl Container {
    fn write(self, dst: &mut BytesMut, count: usize) -> Result<(), EncodeError> {
        match self {
            Self::Array => write::array(dst, count),
            Self::Map => write::map(dst, count),
        }
    }
}

/// A container whose elements are being written.
#[derive(Debug)]
pub(crate) struct Compound<'s, 'a> {
    ser: &'s mut Serializer<'a>,
    container: Container,
    announced: usize,
    written: usize,
    /// Where its count stands.
    start: usize,
    /// Where its elements begin.
    contents: usize,
}

impl Compound<'_, '_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.written += 1;
        value.serialize(&mut *self.ser)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        if let Container::Map = self.container {
            write::str(self.ser.dst, name.as_bytes(), self.ser.dialect)?;
        }
        self.element(value).map_err(|Error(error)| Error(error.within(name)))
    }

    /// A field that is left out. In an array its place must be kept, or those behind it would be taken for it.
    fn skip(&mut self) {
        if let Container::Array = self.container {
            self.written += 1;
            write::nil(self.ser.dst);
        }
    }

    fn finish(self) -> Result<(), Error> {
        // A wrong count would put the whole stream out of step.
        if self.written != self.announced {
            let contents = self.ser.dst.split_off(self.contents);
            self.ser.dst.truncate(self.start);
            self.container.write(self.ser.dst, self.written)?;
            self.ser.dst.extend_from_slice(&contents);
        }
        self.ser.depth -= 1;
        Ok(())
    }
}

impl<'s, 'a> ser::Serializer for &'s mut Serializer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'s, 'a>;
    type SerializeTuple = Compound<'s, 'a>;
    type SerializeTupleStruct = Compound<'s, 'a>;
    type SerializeTupleVariant = Variant<'s, 'a>;
    type SerializeMap = Compound<'s, 'a>;
    type SerializeStruct = Compound<'s, 'a>;
    type SerializeStructVariant = Variant<'s, 'a>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        write::bool(self.dst, value);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        write::int(self.dst, value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => self.serialize_i64(value),
            (_, Ok(value)) => self.serialize_u64(value),
            _ => Err(ser::Error::custom(format_args!("{value} needs more than 64 bits"))),
        }
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        write::uint(self.dst, value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        let value = u64::try_from(value)
            .map_err(|_| Error::from(EncodeError::new(format!("{value} needs more than 64 bits"))))?;
        self.serialize_u64(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        write::f32(self.dst, value);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        write::f64(self.dst, value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        Ok(write::str(self.dst, value.as_bytes(), self.dialect)?)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        Ok(write::bin(self.dst, value, self.dialect)?)
    }

    fn serialize_none(self) -> Result<(), Error> {
        write::nil(self.dst);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.wrapped(value)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        if self.top == Top::Arguments && self.depth == 0 {
            return self.compound(Container::Array, Some(0))?.finish();
        }
        write::nil(self.dst);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.fields(0)?.finish()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name == EXT { self.ext(value) } else { self.wrapped(value) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.depth -= 1;
        Ok(())
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'s, 'a>, Error> {
        self.compound(Container::Array, len)
    }

    fn serialize_tuple(self, len: usize) -> Result<Compound<'s, 'a>, Error> {
        self.compound(Container::Array, Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'s, 'a>, Error> {
        self.compound(Container::Array, Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Variant<'s, 'a>, Error> {
        self.variant(variant)?;
        Ok(Variant(self.compound(Container::Array, Some(len))?))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'s, 'a>, Error> {
        self.compound(Container::Map, len)
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Compound<'s, 'a>, Error> {
        self.fields(len)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Variant<'s, 'a>, Error> {
        self.variant(variant)?;
        Ok(Variant(self.fields(len)?))
    }
}

impl ser::SerializeSeq for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeTuple for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.element(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut *self.ser)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.field(name, value)
    }

    fn skip_field(&mut self, _: &'static str) -> Result<(), Error> {
        self.skip();
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

/// The contents of a variant, within the map that names it.
#[derive(Debug)]
pub(crate) struct Variant<'s, 'a>(Compound<'s, 'a>);

impl Variant<'_, '_> {
    fn finish(self) -> Result<(), Error> {
        self.0.ser.depth -= 1;
        self.0.finish()
    }
}

impl ser::SerializeTupleVariant for Variant<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.0.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeStructVariant for Variant<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.0.field(name, value)
    }

    fn skip_field(&mut self, _: &'static str) -> Result<(), Error> {
        self.0.skip();
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

/// [`EncodeError`] as serde's error.
#[derive(Debug)]
pub(crate) struct Error(pub(crate) EncodeError);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self(error)
    }
}

impl ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(EncodeError::new(short(message)))
    }
}
