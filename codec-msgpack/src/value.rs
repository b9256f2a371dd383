//! Encoded values that are looked at without a type for them: for proxies.
//!
//! A [`RawValue`] is the bytes of one value, whose [`kind`](RawValue::kind) gives the values inside it as they stand.
//! [`mod@write`] puts together what such values become part of.

use std::fmt;

use rpc_core::{DecodeError, DecodeErrorKind};

use crate::read::{Item, item};
use crate::walk::{MAX_DEPTH, value_len};

/// The bytes of one value, all of which were looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawValue<'a>(&'a [u8]);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// Nothing.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A number that is not negative, in whichever form it stands.
    Uint(u64),
    /// A negative number.
    Int(i64),
    /// A number with a fraction, of either width.
    Float(f64),
    /// A text, which may be no UTF-8, since peers from before 2013 write bytes so.
    Str(&'a [u8]),
    /// Bytes.
    Bin(&'a [u8]),
    /// A list.
    Array(Elements<'a>),
    /// Pairs: a key, its value, the next key, and so on.
    Map(Elements<'a>),
    /// A value of an application's own type.
    Ext(i8, &'a [u8]),
}

impl<'a> RawValue<'a> {
    /// Takes bytes that are exactly one value.
    ///
    /// # Errors
    /// When they are not, or containers nest deeper than 64 levels.
    pub fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        match value_len(bytes, MAX_DEPTH)? {
            len if len == bytes.len() => Ok(Self(bytes)),
            len => {
                let detail = format!("{} bytes behind the value", bytes.len() - len);
                Err(DecodeError::new(DecodeErrorKind::Leftover, detail))
            }
        }
    }

    /// Its bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// What it is.
    pub fn kind(self) -> Kind<'a> {
        // It is whole, as `new` saw, so neither can fail.
        let Ok((item, len)) = item(self.0) else { return Kind::Nil };
        let rest = self.0.get(len..).unwrap_or_default();
        match item {
            Item::Nil => Kind::Nil,
            Item::Bool(value) => Kind::Bool(value),
            Item::Uint(value) => Kind::Uint(value),
            Item::Int(value) => Kind::Int(value),
            Item::F32(value) => Kind::Float(value.into()),
            Item::F64(value) => Kind::Float(value),
            Item::Str(_) => Kind::Str(rest),
            Item::Bin(_) => Kind::Bin(rest),
            Item::Ext(kind, _) => Kind::Ext(kind, rest),
            Item::Array(count) => Kind::Array(Elements { rest, left: count }),
            Item::Map(count) => Kind::Map(Elements { rest, left: count.saturating_mul(2) }),
        }
    }
}

impl fmt::Debug for RawValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.kind(), f)
    }
}

/// The values inside another, in their order.
#[derive(Clone, Copy, PartialEq)]
pub struct Elements<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Elements<'a> {
    /// How many are left.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The bytes of those that are left, one behind the other.
    pub fn bytes(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = RawValue<'a>;

    fn next(&mut self) -> Option<RawValue<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (value, rest) = self.rest.split_at_checked(value_len(self.rest, MAX_DEPTH).ok()?)?;
        self.rest = rest;
        Some(RawValue(value))
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// What stands before values, and small values, in their shortest form.
pub mod write {
    use bytes::BytesMut;
    use rpc_core::EncodeError;

    use crate::write;

    /// What stands before the values of a list.
    ///
    /// # Errors
    /// When there are more than 2³²−1.
    pub fn array(count: usize, dst: &mut BytesMut) -> Result<(), EncodeError> {
        write::array(dst, count)
    }

    /// What stands before the keys and values of so many pairs.
    ///
    /// # Errors
    /// When there are more than 2³²−1.
    pub fn map(count: usize, dst: &mut BytesMut) -> Result<(), EncodeError> {
        write::map(dst, count)
    }

    /// A truth value.
    pub fn bool(value: bool, dst: &mut BytesMut) {
        write::bool(dst, value);
    }

    /// A number.
    ///
    /// # Errors
    /// When it is below −2⁶³ or above 2⁶⁴−1.
    pub fn int(value: i128, dst: &mut BytesMut) -> Result<(), EncodeError> {
        if let Ok(value) = u64::try_from(value) {
            write::uint(dst, value);
        } else if let Ok(value) = i64::try_from(value) {
            write::int(dst, value);
        } else {
            return Err(EncodeError::new("a number that is beyond 64 bits"));
        }
        Ok(())
    }

    /// A number with a fraction.
    pub fn float(value: f64, dst: &mut BytesMut) {
        write::f64(dst, value);
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;
    use rmpv::Value;

    use super::*;
    use crate::testing::{seeded, values, written};

    /// The value as the independent model has it, made of what the kinds say.
    fn model(value: RawValue<'_>) -> Value {
        match value.kind() {
            Kind::Nil => Value::Nil,
            Kind::Bool(value) => value.into(),
            Kind::Uint(value) => value.into(),
            Kind::Int(value) => value.into(),
            Kind::Float(value) => Value::F64(value),
            Kind::Str(text) => String::from_utf8(text.to_vec()).unwrap().into(),
            Kind::Bin(bytes) => Value::Binary(bytes.to_vec()),
            Kind::Array(elements) => {
                assert_eq!(elements.len(), elements.count());
                Value::Array(elements.map(model).collect())
            }
            Kind::Map(mut elements) => {
                let mut pairs = Vec::new();
                while let Some(key) = elements.next() {
                    pairs.push((model(key), model(elements.next().unwrap())));
                }
                Value::Map(pairs)
            }
            Kind::Ext(kind, bytes) => Value::Ext(kind, bytes.to_vec()),
        }
    }

    fn widened(value: Value) -> Value {
        match value {
            Value::F32(value) => Value::F64(value.into()),
            Value::Array(elements) => Value::Array(elements.into_iter().map(widened).collect()),
            Value::Map(pairs) => {
                Value::Map(pairs.into_iter().map(|(key, value)| (widened(key), widened(value))).collect())
            }
            other => other,
        }
    }

    proptest! {
        #![proptest_config(seeded(500))]

        #[test]
        fn kinds_are_what_rmpv_reads(value in values()) {
            let bytes = written(&value);
            let raw = RawValue::new(&bytes).unwrap();
            prop_assert_eq!(raw.bytes(), &bytes[..]);
            prop_assert_eq!(model(raw), widened(value));
        }

        #[test]
        fn what_is_not_one_value_is_refused(value in values(), more in 0usize..3) {
            let bytes = written(&value);
            prop_assert!(RawValue::new(&bytes[..bytes.len() - 1]).is_err());
            let longer = [&bytes[..], &b"\x00\x00\x00"[..more]].concat();
            prop_assert_eq!(RawValue::new(&longer).is_ok(), more == 0);
        }
    }

    #[test]
    fn numbers_are_written_up_to_their_bounds() {
        for value in [0, -1, i128::from(u64::MAX), i128::from(i64::MIN), 300] {
            let mut dst = BytesMut::new();
            write::int(value, &mut dst).unwrap();
            let read: i128 = match RawValue::new(&dst).unwrap().kind() {
                Kind::Uint(value) => value.into(),
                Kind::Int(value) => value.into(),
                other => panic!("{other:?}"),
            };
            assert_eq!(read, value);
        }
        assert!(write::int(i128::from(u64::MAX) + 1, &mut BytesMut::new()).is_err());
    }
}
