//! The shortest form of each item.

use bytes::{BufMut, BytesMut};
use rmp::Marker;
use rpc_core::EncodeError;

/// Which of the format's two dialects is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Current,
    /// As before 2013: texts and bytes are one type, without its 8-bit length.
    Raw,
}

pub(crate) fn nil(dst: &mut BytesMut) {
    put(dst, Marker::Null);
}

pub(crate) fn bool(dst: &mut BytesMut, value: bool) {
    put(dst, if value { Marker::True } else { Marker::False });
}

pub(crate) fn uint(dst: &mut BytesMut, value: u64) {
    if let Ok(small) = u8::try_from(value) {
        if small < 0x80 {
            put(dst, Marker::FixPos(small));
        } else {
            put(dst, Marker::U8);
            dst.put_u8(small);
        }
    } else if let Ok(value) = u16::try_from(value) {
        put(dst, Marker::U16);
        dst.put_u16(value);
    } else if let Ok(value) = u32::try_from(value) {
        put(dst, Marker::U32);
        dst.put_u32(value);
    } else {
        put(dst, Marker::U64);
        dst.put_u64(value);
    }
}

pub(crate) fn int(dst: &mut BytesMut, value: i64) {
    if let Ok(value) = u64::try_from(value) {
        uint(dst, value);
    } else if let Ok(small) = i8::try_from(value) {
        if small >= -32 {
            put(dst, Marker::FixNeg(small));
        } else {
            put(dst, Marker::I8);
            dst.put_i8(small);
        }
    } else if let Ok(value) = i16::try_from(value) {
        put(dst, Marker::I16);
        dst.put_i16(value);
    } else if let Ok(value) = i32::try_from(value) {
        put(dst, Marker::I32);
        dst.put_i32(value);
    } else {
        put(dst, Marker::I64);
        dst.put_i64(value);
    }
}

pub(crate) fn f32(dst: &mut BytesMut, value: f32) {
    put(dst, Marker::F32);
    dst.put_f32(value);
}

pub(crate) fn f64(dst: &mut BytesMut, value: f64) {
    put(dst, Marker::F64);
    dst.put_f64(value);
}

pub(crate) fn str(dst: &mut BytesMut, text: &[u8], dialect: Dialect) -> Result<(), EncodeError> {
    match short(text.len()) {
        Some(len) if len < 32 => put(dst, Marker::FixStr(len)),
        Some(len) if dialect == Dialect::Current => {
            put(dst, Marker::Str8);
            dst.put_u8(len);
        }
        _ => long(dst, text.len(), Marker::Str16, Marker::Str32)?,
    }
    dst.put_slice(text);
    Ok(())
}

pub(crate) fn bin(dst: &mut BytesMut, bytes: &[u8], dialect: Dialect) -> Result<(), EncodeError> {
    if dialect == Dialect::Raw {
        return str(dst, bytes, dialect);
    }
    match short(bytes.len()) {
        Some(len) => {
            put(dst, Marker::Bin8);
            dst.put_u8(len);
        }
        None => long(dst, bytes.len(), Marker::Bin16, Marker::Bin32)?,
    }
    dst.put_slice(bytes);
    Ok(())
}

pub(crate) fn array(dst: &mut BytesMut, count: usize) -> Result<(), EncodeError> {
    match short(count) {
        Some(count) if count < 16 => put(dst, Marker::FixArray(count)),
        _ => long(dst, count, Marker::Array16, Marker::Array32)?,
    }
    Ok(())
}

pub(crate) fn map(dst: &mut BytesMut, count: usize) -> Result<(), EncodeError> {
    match short(count) {
        Some(count) if count < 16 => put(dst, Marker::FixMap(count)),
        _ => long(dst, count, Marker::Map16, Marker::Map32)?,
    }
    Ok(())
}

pub(crate) fn ext(dst: &mut BytesMut, kind: i8, bytes: &[u8]) -> Result<(), EncodeError> {
    match (bytes.len(), short(bytes.len())) {
        (1, _) => put(dst, Marker::FixExt1),
        (2, _) => put(dst, Marker::FixExt2),
        (4, _) => put(dst, Marker::FixExt4),
        (8, _) => put(dst, Marker::FixExt8),
        (16, _) => put(dst, Marker::FixExt16),
        (_, Some(len)) => {
            put(dst, Marker::Ext8);
            dst.put_u8(len);
        }
        (len, None) => long(dst, len, Marker::Ext16, Marker::Ext32)?,
    }
    dst.put_i8(kind);
    dst.put_slice(bytes);
    Ok(())
}

fn put(dst: &mut BytesMut, marker: Marker) {
    dst.put_u8(marker.to_u8());
}

fn short(len: usize) -> Option<u8> {
    u8::try_from(len).ok()
}

fn long(dst: &mut BytesMut, len: usize, marker16: Marker, marker32: Marker) -> Result<(), EncodeError> {
    if let Ok(len) = u16::try_from(len) {
        put(dst, marker16);
        dst.put_u16(len);
    } else {
        let len = u32::try_from(len).map_err(|_| {
            EncodeError::new(format!("{len} bytes or elements are more than a length can say"))
        })?;
        put(dst, marker32);
        dst.put_u32(len);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Item, item};

    type Oracle = fn(&mut Vec<u8>, &str, u32);

    fn written(write: impl FnOnce(&mut BytesMut)) -> BytesMut {
        let mut dst = BytesMut::new();
        write(&mut dst);
        dst
    }

    /// At each border between two forms.
    #[test]
    fn numbers_are_written_in_their_shortest_form() {
        for shift in [0, 5, 7, 8, 15, 16, 31, 32, 63] {
            for value in [(1u64 << shift).wrapping_sub(1), 1 << shift, (1u64 << shift).saturating_add(1)] {
                let bytes = written(|dst| uint(dst, value));
                let mut expected = Vec::new();
                rmp::encode::write_uint(&mut expected, value).unwrap();
                assert_eq!(bytes, expected);
                assert_eq!(item(&bytes), Ok((Item::Uint(value), bytes.len())));
                let negative = 0i64.wrapping_sub_unsigned(value);
                let bytes = written(|dst| int(dst, negative));
                let mut expected = Vec::new();
                rmp::encode::write_sint(&mut expected, negative).unwrap();
                assert_eq!(bytes, expected, "{negative}");
            }
        }
    }

    #[test]
    fn lengths_are_written_in_their_shortest_form() {
        for len in [0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 255, 256, 65_535, 65_536] {
            let bytes = vec![b'x'; len];
            let text = String::from_utf8(bytes.clone()).unwrap();
            let count = u32::try_from(len).unwrap();
            let cases: [(BytesMut, Oracle); 5] = [
                (written(|dst| str(dst, &bytes, Dialect::Current).unwrap()), |dst, text, _| {
                    rmp::encode::write_str(dst, text).unwrap();
                }),
                (written(|dst| bin(dst, &bytes, Dialect::Current).unwrap()), |dst, text, _| {
                    rmp::encode::write_bin(dst, text.as_bytes()).unwrap();
                }),
                (written(|dst| array(dst, len).unwrap()), |dst, _, count| {
                    rmp::encode::write_array_len(dst, count).unwrap();
                }),
                (written(|dst| map(dst, len).unwrap()), |dst, _, count| {
                    rmp::encode::write_map_len(dst, count).unwrap();
                }),
                (written(|dst| ext(dst, -3, &bytes).unwrap()), |dst, text, count| {
                    rmp::encode::write_ext_meta(dst, count, -3).unwrap();
                    dst.extend_from_slice(text.as_bytes());
                }),
            ];
            for (bytes, oracle) in cases {
                let mut expected = Vec::new();
                oracle(&mut expected, &text, count);
                assert!(bytes == expected, "{len}: {:02x?}", &bytes[..bytes.len().min(6)]);
            }
        }
    }

    #[test]
    fn the_old_dialect_has_one_type_for_texts_and_bytes() {
        assert_eq!(written(|dst| str(dst, &[b'x'; 32], Dialect::Raw).unwrap())[..3], [0xda, 0, 32]);
        assert_eq!(written(|dst| bin(dst, b"hi", Dialect::Raw).unwrap())[..], *b"\xa2hi");
    }
}
