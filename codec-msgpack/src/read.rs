//! One item of MessagePack at a time, shared by everything here that reads: the walker, the envelope, the deserializer.

use rmp::Marker;
use rpc_core::{DecodeError, DecodeErrorKind};

/// What an item's first bytes say. Lengths are claims of the peer: nothing says yet that so many bytes follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item {
    Nil,
    Bool(bool),
    Uint(u64),
    /// Negative.
    Int(i64),
    F32(f32),
    F64(f64),
    /// A text of so many bytes.
    Str(usize),
    /// So many bytes.
    Bin(usize),
    /// So many elements.
    Array(usize),
    /// So many pairs.
    Map(usize),
    /// A value of an application's own type: the type, and how many bytes follow.
    Ext(i8, usize),
}

/// Why there is no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoItem {
    /// The bytes end in it.
    Truncated,
    /// `c1`, which never stands for anything.
    Reserved,
}

/// Reads the item at the front of `bytes` up to its contents: a number wholly, of the others what says how long they are.
/// Returns it with how many bytes that took.
pub(crate) fn item(bytes: &[u8]) -> Result<(Item, usize), NoItem> {
    let (first, rest) = bytes.split_first().ok_or(NoItem::Truncated)?;
    let (item, more) = match Marker::from_u8(*first) {
        Marker::FixPos(value) => (Item::Uint(value.into()), 0),
        Marker::FixNeg(value) => (Item::Int(value.into()), 0),
        Marker::FixStr(len) => (Item::Str(len.into()), 0),
        Marker::FixArray(count) => (Item::Array(count.into()), 0),
        Marker::FixMap(count) => (Item::Map(count.into()), 0),
        Marker::Null => (Item::Nil, 0),
        Marker::False => (Item::Bool(false), 0),
        Marker::True => (Item::Bool(true), 0),
        Marker::U8 => (Item::Uint(u8::from_be_bytes(take(rest)?).into()), 1),
        Marker::U16 => (Item::Uint(u16::from_be_bytes(take(rest)?).into()), 2),
        Marker::U32 => (Item::Uint(u32::from_be_bytes(take(rest)?).into()), 4),
        Marker::U64 => (Item::Uint(u64::from_be_bytes(take(rest)?)), 8),
        Marker::I8 => (signed(i8::from_be_bytes(take(rest)?).into()), 1),
        Marker::I16 => (signed(i16::from_be_bytes(take(rest)?).into()), 2),
        Marker::I32 => (signed(i32::from_be_bytes(take(rest)?).into()), 4),
        Marker::I64 => (signed(i64::from_be_bytes(take(rest)?)), 8),
        Marker::F32 => (Item::F32(f32::from_be_bytes(take(rest)?)), 4),
        Marker::F64 => (Item::F64(f64::from_be_bytes(take(rest)?)), 8),
        Marker::Str8 => (Item::Str(len8(rest)?), 1),
        Marker::Str16 => (Item::Str(len16(rest)?), 2),
        Marker::Str32 => (Item::Str(len32(rest)?), 4),
        Marker::Bin8 => (Item::Bin(len8(rest)?), 1),
        Marker::Bin16 => (Item::Bin(len16(rest)?), 2),
        Marker::Bin32 => (Item::Bin(len32(rest)?), 4),
        Marker::Array16 => (Item::Array(len16(rest)?), 2),
        Marker::Array32 => (Item::Array(len32(rest)?), 4),
        Marker::Map16 => (Item::Map(len16(rest)?), 2),
        Marker::Map32 => (Item::Map(len32(rest)?), 4),
        Marker::FixExt1 => (Item::Ext(kind(rest, 0)?, 1), 1),
        Marker::FixExt2 => (Item::Ext(kind(rest, 0)?, 2), 1),
        Marker::FixExt4 => (Item::Ext(kind(rest, 0)?, 4), 1),
        Marker::FixExt8 => (Item::Ext(kind(rest, 0)?, 8), 1),
        Marker::FixExt16 => (Item::Ext(kind(rest, 0)?, 16), 1),
        Marker::Ext8 => (Item::Ext(kind(rest, 1)?, len8(rest)?), 2),
        Marker::Ext16 => (Item::Ext(kind(rest, 2)?, len16(rest)?), 3),
        Marker::Ext32 => (Item::Ext(kind(rest, 4)?, len32(rest)?), 5),
        Marker::Reserved => return Err(NoItem::Reserved),
    };
    Ok((item, 1 + more))
}

/// A signed form may hold a number that is not negative; then it is like any other such number.
fn signed(value: i64) -> Item {
    u64::try_from(value).map_or(Item::Int(value), Item::Uint)
}

fn take<const N: usize>(rest: &[u8]) -> Result<[u8; N], NoItem> {
    rest.first_chunk::<N>().copied().ok_or(NoItem::Truncated)
}

fn len8(rest: &[u8]) -> Result<usize, NoItem> {
    Ok(u8::from_be_bytes(take(rest)?).into())
}

fn len16(rest: &[u8]) -> Result<usize, NoItem> {
    Ok(u16::from_be_bytes(take(rest)?).into())
}

fn len32(rest: &[u8]) -> Result<usize, NoItem> {
    // Where addresses have 16 bits no such length is there to be read.
    usize::try_from(u32::from_be_bytes(take(rest)?)).map_err(|_| NoItem::Truncated)
}

fn kind(rest: &[u8], at: usize) -> Result<i8, NoItem> {
    rest.get(at).map(|byte| byte.cast_signed()).ok_or(NoItem::Truncated)
}

impl From<NoItem> for DecodeError {
    fn from(error: NoItem) -> Self {
        match error {
            NoItem::Truncated => Self::truncated(),
            NoItem::Reserved => {
                Self::new(DecodeErrorKind::Malformed, "the byte c1, which stands for nothing")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_first_byte_is_an_item_or_c1() {
        for first in 0..=u8::MAX {
            let bytes: Vec<u8> = [&[first][..], &[0; 9]].concat();
            match item(&bytes) {
                Ok((_, len)) => {
                    for short in 0..len {
                        assert_eq!(
                            item(&bytes[..short]),
                            Err(NoItem::Truncated),
                            "{first:02x}, {short} bytes"
                        );
                    }
                }
                Err(error) => assert_eq!((first, error), (0xc1, NoItem::Reserved)),
            }
        }
    }

    #[test]
    fn signed_forms_of_what_is_not_negative_are_unsigned() {
        assert_eq!(item(&[0xd1, 0, 5]), Ok((Item::Uint(5), 3)));
        assert_eq!(item(&[0xd1, 0xff, 0xff]), Ok((Item::Int(-1), 3)));
    }
}
