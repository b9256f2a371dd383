use rpc_core::DecodeError;
use rpc_wire::{FrameError, Unframed};

use super::header::Start;
use super::reader::{least, ttype};
use super::{Header, MAX_SHORT_COUNT, varint};
use crate::scan::{Field, Grammar};
use crate::source::unknown_type;
use crate::{Scan, TType};

impl Unframed for Header {
    type Scan = Scan;

    fn scan(&self, scan: &mut Scan, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
        scan.advance(self, src, limit)
    }
}

impl Grammar for Header {
    fn header(&self, src: &[u8]) -> Result<Option<usize>, DecodeError> {
        Ok(Start::read(src)?.map(|start| start.len.saturating_add(start.name)))
    }

    fn field(&self, src: &[u8]) -> Result<Option<(Field, usize)>, DecodeError> {
        let [byte, rest @ ..] = src else { return Ok(None) };
        let (step, number) = (byte >> 4, byte & 0x0f);
        let field = match ttype(number)? {
            TType::Stop if step == 0 => return Ok(Some((Field::Stop, 1))),
            TType::Stop => return Err(unknown_type(number)),
            TType::Bool => Field::Held,
            ttype => Field::Of(ttype),
        };
        let id_len = if step == 0 { varint::read_32(rest)?.map(|(_, len)| len) } else { Some(0) };
        Ok(id_len.map(|id_len| (field, 1 + id_len)))
    }

    fn list(&self, src: &[u8]) -> Result<Option<(TType, u32, usize)>, DecodeError> {
        let [byte, rest @ ..] = src else { return Ok(None) };
        let element = ttype(byte & 0x0f)?;
        match byte >> 4 {
            short @ ..=MAX_SHORT_COUNT => Ok(Some((element, short.into(), 1))),
            _ => Ok(varint::read_32(rest)?.map(|(count, len)| (element, count, 1 + len))),
        }
    }

    fn map(&self, src: &[u8]) -> Result<Option<(TType, TType, u32, usize)>, DecodeError> {
        let Some((count, len)) = varint::read_32(src)? else { return Ok(None) };
        if count == 0 {
            return Ok(Some((TType::Stop, TType::Stop, 0, len)));
        }
        let Some(types) = src.get(len) else { return Ok(None) };
        Ok(Some((ttype(types >> 4)?, ttype(types & 0x0f)?, count, len + 1)))
    }

    fn scalar(&self, ttype: TType, src: &[u8]) -> Result<Option<usize>, DecodeError> {
        Ok(match ttype {
            TType::I16 | TType::I32 => varint::read_32(src)?.map(|(_, len)| len),
            TType::I64 => varint::read_64(src)?.map(|(_, len)| len),
            TType::String => varint::read_32(src)?
                .map(|(text, len)| len.saturating_add(usize::try_from(text).unwrap_or(usize::MAX))),
            fixed => Some(least(fixed)),
        })
    }

    fn least(&self, ttype: TType) -> usize {
        least(ttype)
    }

    fn width(&self, ttype: TType) -> Option<usize> {
        match ttype {
            TType::Bool | TType::I8 | TType::Double | TType::Uuid => Some(least(ttype)),
            _ => None,
        }
    }
}
