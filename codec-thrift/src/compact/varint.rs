//! Seven bits a byte, the lowest first; the top bit says that more follow.

use bytes::{BufMut, BytesMut};
use rpc_core::{DecodeError, DecodeErrorKind};

/// The most bytes of a 32-bit number.
pub(super) const MAX_LEN_32: usize = 5;
/// The most bytes of a 64-bit number.
const MAX_LEN_64: usize = 10;

/// Appends a number in as few bytes as it needs.
#[inline]
pub(super) fn put(value: u64, dst: &mut BytesMut) {
    let [low, ..] = value.to_le_bytes();
    if value < 0x80 { dst.put_u8(low) } else { put_long(value, dst) }
}

fn put_long(mut value: u64, dst: &mut BytesMut) {
    let (mut bytes, mut len) = ([0; MAX_LEN_64], 0);
    for place in &mut bytes {
        let [low, ..] = value.to_le_bytes();
        len += 1;
        value >>= 7;
        if value == 0 {
            *place = low;
            break;
        }
        *place = low | 0x80;
    }
    dst.put_slice(bytes.get(..len).unwrap_or_default());
}

/// How many bytes [`put`] appends for a number.
pub(super) fn len(value: u32) -> usize {
    match value {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x001f_ffff => 3,
        0x0020_0000..=0x0fff_ffff => 4,
        0x1000_0000.. => MAX_LEN_32,
    }
}

/// The number at the front of `src` and its length, or `None` while it is not whole.
///
/// # Errors
/// When it has more than 32 bits.
#[inline]
pub(super) fn read_32(src: &[u8]) -> Result<Option<(u32, usize)>, DecodeError> {
    match src {
        [byte @ 0..=0x7f, ..] => Ok(Some((u32::from(*byte), 1))),
        [low, high @ 0..=0x7f, ..] => Ok(Some((u32::from(*low & 0x7f) | u32::from(*high) << 7, 2))),
        _ => match read_long(src, MAX_LEN_32)? {
            Some((value, len)) => Ok(Some((u32::try_from(value).map_err(|_| overlong(32))?, len))),
            None => Ok(None),
        },
    }
}

/// The number at the front of `src` and its length, or `None` while it is not whole.
///
/// # Errors
/// When it has more than 64 bits.
#[inline]
pub(super) fn read_64(src: &[u8]) -> Result<Option<(u64, usize)>, DecodeError> {
    match src {
        [byte @ 0..=0x7f, ..] => Ok(Some((u64::from(*byte), 1))),
        [low, high @ 0..=0x7f, ..] => Ok(Some((u64::from(*low & 0x7f) | u64::from(*high) << 7, 2))),
        _ => read_long(src, MAX_LEN_64),
    }
}

/// No bits are lost: ten bytes hold 70, of which the last byte may use one.
fn read_long(src: &[u8], max: usize) -> Result<Option<(u64, usize)>, DecodeError> {
    let (mut value, mut shift) = (0, 0);
    for (at, byte) in src.iter().take(max).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(overlong(64));
        }
        value |= bits << shift;
        shift += 7;
        if *byte < 0x80 {
            return Ok(Some((value, at + 1)));
        }
    }
    if src.len() < max { Ok(None) } else { Err(overlong(if max == MAX_LEN_32 { 32 } else { 64 })) }
}

#[cold]
fn overlong(bits: u32) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, format!("a varint of more than {bits} bits"))
}

/// A signed number as an unsigned one that is small when its absolute value is.
#[inline]
pub(super) fn zigzag_32(value: i32) -> u64 {
    u64::from((value << 1 ^ value >> 31).cast_unsigned())
}

/// A signed number as an unsigned one that is small when its absolute value is.
#[inline]
pub(super) fn zigzag_64(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// The number that [`zigzag_32`] was made of.
#[inline]
pub(super) fn unzigzag_32(value: u32) -> i32 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// The number that [`zigzag_64`] was made of.
#[inline]
pub(super) fn unzigzag_64(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lengths_are_the_fewest() {
        let known: [(u64, &[u8]); 6] = [
            (0, &[0]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (u32::MAX.into(), &[0xff, 0xff, 0xff, 0xff, 0x0f]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ];
        for (value, bytes) in known {
            let mut dst = BytesMut::new();
            put(value, &mut dst);
            assert_eq!(dst, bytes);
            assert_eq!(read_64(bytes), Ok(Some((value, bytes.len()))));
        }
    }

    /// Beyond its type's bits, or without an end; padded with zeros it is still the number.
    #[test]
    fn too_long_a_number_is_refused() {
        for bytes in [[0xff, 0xff, 0xff, 0xff, 0x10], [0xff, 0xff, 0xff, 0xff, 0x80]] {
            assert!(read_32(&bytes).is_err(), "{bytes:x?}");
        }
        let endless = [0xff; 11];
        assert!(read_64(&endless).is_err());
        let two_bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert!(read_64(&two_bits).is_err());
        assert_eq!(read_32(&[0x81, 0x80, 0x80, 0x80, 0x00]), Ok(Some((1, 5))));
    }

    proptest! {
        #[test]
        fn every_number_comes_back(wide: i64, narrow: i32) {
            let mut dst = BytesMut::new();
            put(zigzag_64(wide), &mut dst);
            let (value, len) = read_64(&dst).unwrap().unwrap();
            prop_assert_eq!((unzigzag_64(value), len), (wide, dst.len()));
            for cut in 0..len {
                prop_assert_eq!(read_64(&dst[..cut]), Ok(None));
            }

            dst.clear();
            put(zigzag_32(narrow), &mut dst);
            let (value, len) = read_32(&dst).unwrap().unwrap();
            prop_assert_eq!((unzigzag_32(value), len), (narrow, dst.len()));
            prop_assert_eq!(super::len(value), len);
        }
    }
}
