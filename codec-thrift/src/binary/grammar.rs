use rpc_core::DecodeError;
use rpc_wire::{FrameError, Unframed};

use super::Header;
use super::reader::{least, negative};
use crate::scan::{Field, Grammar};
use crate::source::unknown_type;
use crate::{Scan, TType};

impl Unframed for Header {
    type Scan = Scan;

    fn scan(&self, scan: &mut Scan, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
        scan.advance(self, src, limit)
    }
}

/// A field's type and id.
const FIELD_LEN: usize = 3;
/// A length or a count.
const SIZE_LEN: usize = 4;

impl Grammar for Header {
    fn header(&self, src: &[u8]) -> Result<Option<usize>, DecodeError> {
        Ok(self.layout(src)?.map(|layout| layout.len()))
    }

    fn field(&self, src: &[u8]) -> Result<Option<(Field, usize)>, DecodeError> {
        Ok(match src {
            [] => None,
            [tag, ..] => Some(match ttype(*tag)? {
                TType::Stop => (Field::Stop, 1),
                ttype => (Field::Of(ttype), FIELD_LEN),
            }),
        })
    }

    fn list(&self, src: &[u8]) -> Result<Option<(TType, u32, usize)>, DecodeError> {
        let [element, rest @ ..] = src else { return Ok(None) };
        let element = ttype(*element)?;
        Ok(size(rest)?.map(|count| (element, count, 1 + SIZE_LEN)))
    }

    fn map(&self, src: &[u8]) -> Result<Option<(TType, TType, u32, usize)>, DecodeError> {
        let [key, value, rest @ ..] = src else { return Ok(None) };
        let (key, value) = (ttype(*key)?, ttype(*value)?);
        Ok(size(rest)?.map(|count| (key, value, count, 2 + SIZE_LEN)))
    }

    fn scalar(&self, ttype: TType, src: &[u8]) -> Result<Option<usize>, DecodeError> {
        match ttype {
            TType::String => {
                let len = size(src)?.map(|len| usize::try_from(len).unwrap_or(usize::MAX));
                Ok(len.map(|len| len.saturating_add(SIZE_LEN)))
            }
            fixed => Ok(Some(least(fixed))),
        }
    }

    fn least(&self, ttype: TType) -> usize {
        least(ttype)
    }

    fn width(&self, ttype: TType) -> Option<usize> {
        match ttype {
            TType::Stop | TType::String | TType::Struct | TType::List | TType::Set | TType::Map => None,
            fixed => Some(least(fixed)),
        }
    }
}

fn ttype(tag: u8) -> Result<TType, DecodeError> {
    TType::from_number(tag).ok_or_else(|| unknown_type(tag))
}

/// The length or count at the front of `src`.
fn size(src: &[u8]) -> Result<Option<u32>, DecodeError> {
    let Some(bytes) = src.first_chunk() else { return Ok(None) };
    let claimed = i32::from_be_bytes(*bytes);
    u32::try_from(claimed).map(Some).map_err(|_| negative(claimed))
}
