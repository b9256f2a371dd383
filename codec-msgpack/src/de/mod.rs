//! MessagePack to any of serde's values. The table is on [`MsgPack`](crate::MsgPack).

mod access;

use std::fmt;

use rpc_core::{DecodeError, DecodeErrorKind};
use serde::de::value::{SeqAccessDeserializer, SeqDeserializer};
use serde::de::{self, Visitor};
use serde::forward_to_deserialize_any;

use self::access::{Elements, ExtParts, Variant};
use crate::read::{Item, item};
use crate::ser::{EXT, Top};
use crate::text::short;
use crate::walk::{MAX_DEPTH, too_deep, values_len};

/// Reads one value from the front of what is left.
#[derive(Debug)]
pub(crate) struct Deserializer<'de> {
    rest: &'de [u8],
    top: Top,
    /// Open containers.
    depth: usize,
    /// Newtypes and options around the value, which are no bytes and so do not count as depth.
    wrapped: usize,
}

impl<'de> Deserializer<'de> {
    pub(crate) fn new(bytes: &'de [u8], top: Top) -> Self {
        Self { rest: bytes, top, depth: 0, wrapped: 0 }
    }

    /// Checks that parameters come.
    pub(crate) fn expect_array(&self) -> Result<(), DecodeError> {
        match self.peek()?.0 {
            Item::Array(_) => Ok(()),
            other => {
                let detail = format!("{} in place of the array of parameters", describe(other));
                Err(DecodeError::new(DecodeErrorKind::Malformed, detail))
            }
        }
    }

    /// Begins the array around a method's one message; says how many elements it has.
    pub(crate) fn enter_params(&mut self) -> Result<usize, DecodeError> {
        self.expect_array()?;
        let Item::Array(count) = self.next()? else { return Ok(0) };
        self.announced(count, 1)?;
        self.enter()?;
        Ok(count)
    }

    /// Leaves values out.
    pub(crate) fn skip(&mut self, values: usize) -> Result<(), DecodeError> {
        if values > 0 {
            let len = values_len(self.rest, values, MAX_DEPTH.saturating_sub(self.depth))?;
            self.advance(len);
        }
        Ok(())
    }

    /// Ends the reading.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            left => {
                Err(DecodeError::new(DecodeErrorKind::Leftover, format!("{left} bytes follow the value")))
            }
        }
    }

    fn peek(&self) -> Result<(Item, usize), DecodeError> {
        Ok(item(self.rest)?)
    }

    fn next(&mut self) -> Result<Item, DecodeError> {
        let (item, len) = self.peek()?;
        self.advance(len);
        Ok(item)
    }

    fn advance(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
    }

    fn take(&mut self, len: usize) -> Result<&'de [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(DecodeError::truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Checks a count before anything is allocated by it: each element is `least` bytes at least.
    fn announced(&self, count: usize, least: usize) -> Result<(), DecodeError> {
        if count.saturating_mul(least) > self.rest.len() {
            let left = self.rest.len();
            let detail = format!("{count} elements are announced, and {left} bytes are left");
            return Err(DecodeError::new(DecodeErrorKind::Truncated, detail));
        }
        Ok(())
    }

    fn enter(&mut self) -> Result<(), DecodeError> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(MAX_DEPTH));
        }
        self.depth += 1;
        self.wrapped = 0;
        Ok(())
    }

    fn wrap(&mut self) -> Result<(), DecodeError> {
        if self.wrapped >= MAX_DEPTH {
            return Err(too_deep(MAX_DEPTH));
        }
        self.wrapped += 1;
        Ok(())
    }

    fn visit_array<V: Visitor<'de>>(
        &mut self,
        count: usize,
        shape: Shape,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.announced(count, 1)?;
        self.enter()?;
        let mut elements = Elements { de: self, left: count, names: shape.fields().iter(), name: None };
        let value = visitor.visit_seq(&mut elements)?;
        let left = elements.left;
        self.leave(left, shape)?;
        Ok(value)
    }

    fn visit_map<V: Visitor<'de>>(
        &mut self,
        count: usize,
        shape: Shape,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.announced(count, 2)?;
        self.enter()?;
        let mut elements = Elements { de: self, left: count, names: shape.fields().iter(), name: None };
        let value = visitor.visit_map(&mut elements)?;
        let left = elements.left.saturating_mul(2);
        self.leave(left, shape)?;
        Ok(value)
    }

    /// Ends a container of which so many elements were not wanted: newer peers may send more fields.
    fn leave(&mut self, left: usize, shape: Shape) -> Result<(), DecodeError> {
        if left > 0 && shape == Shape::Exact {
            let detail = format!("{left} more elements than are wanted");
            return Err(DecodeError::new(DecodeErrorKind::Malformed, detail));
        }
        self.skip(left)?;
        self.depth -= 1;
        Ok(())
    }

    fn visit<V: Visitor<'de>>(&mut self, shape: Shape, visitor: V) -> Result<V::Value, Error> {
        match self.next()? {
            Item::Nil => visitor.visit_unit(),
            Item::Bool(value) => visitor.visit_bool(value),
            Item::Uint(value) => visitor.visit_u64(value),
            Item::Int(value) => visitor.visit_i64(value),
            Item::F32(value) => visitor.visit_f32(value),
            Item::F64(value) => visitor.visit_f64(value),
            Item::Str(len) => {
                let bytes = self.take(len)?;
                match str::from_utf8(bytes) {
                    Ok(text) => visitor.visit_borrowed_str(text),
                    // Peers of the old dialect send bytes so; who takes texts alone refuses them.
                    Err(_) => visitor.visit_borrowed_bytes(bytes),
                }
            }
            Item::Bin(len) => visitor.visit_borrowed_bytes(self.take(len)?),
            Item::Array(count) => self.visit_array(count, shape, visitor),
            Item::Map(count) => self.visit_map(count, shape, visitor),
            Item::Ext(kind, len) => {
                let parts = ExtParts { kind: Some(kind), bytes: Some(self.take(len)?) };
                visitor.visit_newtype_struct(SeqAccessDeserializer::new(parts))
            }
        }
    }

    /// A text, from either type.
    fn text(&mut self, len: usize) -> Result<&'de str, DecodeError> {
        str::from_utf8(self.take(len)?).map_err(|error| {
            let detail = format!("invalid UTF-8 at byte {}", error.valid_up_to());
            DecodeError::new(DecodeErrorKind::NotUtf8, detail)
        })
    }

    /// A float of so many digits, which an integer may stand for if it is one exactly.
    fn visit_float<V: Visitor<'de>>(&mut self, digits: u32, visitor: V) -> Result<V::Value, Error> {
        let exact = |magnitude: u64| {
            let width = u64::BITS - magnitude.leading_zeros();
            width.saturating_sub(magnitude.trailing_zeros()) <= digits
        };
        match self.peek()?.0 {
            Item::Uint(value) if !exact(value) => Err(inexact(value, digits)),
            Item::Int(value) if !exact(value.unsigned_abs()) => Err(inexact(value, digits)),
            _ => self.visit(Shape::Exact, visitor),
        }
    }
}

#[cold]
fn inexact(value: impl fmt::Display, digits: u32) -> Error {
    de::Error::custom(format_args!("integer {value} is not a float of {digits} binary digits"))
}

/// What is wanted of an array or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// All of its elements.
    Exact,
    /// The elements that there are names for; those behind them are left out.
    Fields(&'static [&'static str]),
}

impl Shape {
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Exact => &[],
            Self::Fields(fields) => fields,
        }
    }
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit(Shape::Exact, visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()?.0 {
            // Peers whose language has one kind of float send all of them wide.
            Item::F64(value) => {
                self.next()?;
                #[allow(clippy::cast_possible_truncation)]
                // rounded, as every float is; out of range is checked
                let narrow = value as f32;
                if narrow.is_infinite() && value.is_finite() {
                    return Err(de::Error::custom(format_args!(
                        "{value:e} is out of range for a 32-bit float"
                    )));
                }
                visitor.visit_f32(narrow)
            }
            _ => self.visit_float(f32::MANTISSA_DIGITS, visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit_float(f64::MANTISSA_DIGITS, visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            (Item::Str(contents) | Item::Bin(contents), len) => {
                self.advance(len);
                visitor.visit_borrowed_str(self.text(contents)?)
            }
            _ => self.visit(Shape::Exact, visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            (Item::Str(contents) | Item::Bin(contents), len) => {
                self.advance(len);
                visitor.visit_borrowed_bytes(self.take(contents)?)
            }
            _ => self.visit(Shape::Exact, visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            // A name that is no text is the name of nothing that is known.
            (Item::Bin(contents), len) => {
                self.advance(len);
                let bytes = self.take(contents)?;
                match str::from_utf8(bytes) {
                    Ok(text) => visitor.visit_borrowed_str(text),
                    Err(_) => visitor.visit_borrowed_bytes(bytes),
                }
            }
            _ => self.visit(Shape::Exact, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if let (Item::Nil, len) = self.peek()? {
            self.advance(len);
            return visitor.visit_none();
        }
        self.wrap()?;
        let value = visitor.visit_some(&mut *self)?;
        self.wrapped = self.wrapped.saturating_sub(1);
        Ok(value)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            (Item::Array(_), _) if self.top == Top::Arguments && self.depth == 0 => {
                self.deserialize_unit_struct("", visitor)
            }
            _ => self.visit(Shape::Exact, visitor),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.peek()? {
            (Item::Array(count), len) => {
                self.advance(len);
                self.enter()?;
                self.leave(count, Shape::Fields(&[]))?;
                visitor.visit_unit()
            }
            (Item::Map(count), len) => {
                self.advance(len);
                self.enter()?;
                self.leave(count.saturating_mul(2), Shape::Fields(&[]))?;
                visitor.visit_unit()
            }
            _ => self.visit(Shape::Exact, visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.peek()?.0 {
            Item::Ext(..) if name == EXT => self.visit(Shape::Exact, visitor),
            _ => {
                self.wrap()?;
                let value = visitor.visit_newtype_struct(&mut *self)?;
                self.wrapped = self.wrapped.saturating_sub(1);
                Ok(value)
            }
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            // A list of bytes may come as bytes.
            (Item::Bin(contents), len) => {
                self.advance(len);
                let bytes = self.take(contents)?;
                visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied()))
            }
            _ => self.visit(Shape::Exact, visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        if self.top == Top::Arguments && self.depth == 0 {
            return self.visit(Shape::Fields(&[]), visitor);
        }
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit(Shape::Fields(&[]), visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit(Shape::Fields(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.peek()? {
            (Item::Map(1), len) => {
                self.advance(len);
                self.enter()?;
                let value = visitor.visit_enum(Variant { de: &mut *self, has_value: true })?;
                self.depth -= 1;
                Ok(value)
            }
            (Item::Str(_) | Item::Bin(_) | Item::Uint(_), _) => {
                visitor.visit_enum(Variant { de: self, has_value: false })
            }
            (other, _) => Err(de::Error::custom(format_args!(
                "{} in place of a variant's name or a map of one pair",
                describe(other)
            ))),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.skip(1)?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 map
    }
}

/// What an item is, for people.
fn describe(item: Item) -> &'static str {
    match item {
        Item::Nil => "nil",
        Item::Bool(_) => "a bool",
        Item::Uint(_) | Item::Int(_) => "an integer",
        Item::F32(_) | Item::F64(_) => "a float",
        Item::Str(_) => "a text",
        Item::Bin(_) => "bytes",
        Item::Array(_) => "an array",
        Item::Map(_) => "a map",
        Item::Ext(..) => "an ext value",
    }
}

/// [`DecodeError`] as serde's error.
#[derive(Debug)]
pub(crate) struct Error(pub(crate) DecodeError);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self(error)
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(DecodeError::new(DecodeErrorKind::Malformed, short(message)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(DecodeError::new(DecodeErrorKind::Missing, format!("the field {field} is missing")))
    }
}
