use bytes::Bytes;
use rpc_core::{DecodeError, DecodeErrorKind};

use super::field_ids::FieldIds;
use super::{MAX_SHORT_COUNT, TRUE, from_number, varint};
use crate::source::{Source, unknown_type};
use crate::{FieldHeader, TType, ThriftReader};

/// Reads values of the compact protocol out of one message.
///
/// A bool in a container is true when its byte is 1, and false otherwise: writers that follow the oldest text of the
/// specification put a 0 there, the others a 2.
#[derive(Clone, Debug)]
pub struct Reader {
    src: Source,
    ids: FieldIds,
    /// The bool that a field's header held, until it is read.
    held: Option<bool>,
}

impl Reader {
    /// A reader at the start of `src`.
    pub fn new(src: Bytes) -> Self {
        Self { src: Source::new(src), ids: FieldIds::new(), held: None }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When bytes are left over.
    pub fn finish(self) -> Result<(), DecodeError> {
        self.src.finish()
    }

    #[inline]
    fn varint_32(&mut self) -> Result<u32, DecodeError> {
        let (value, len) = varint::read_32(self.src.rest())?.ok_or_else(DecodeError::truncated)?;
        self.src.skip(len)?;
        Ok(value)
    }

    #[inline]
    fn varint_64(&mut self) -> Result<u64, DecodeError> {
        let (value, len) = varint::read_64(self.src.rest())?.ok_or_else(DecodeError::truncated)?;
        self.src.skip(len)?;
        Ok(value)
    }

    /// The length or count that stands here, as it is claimed. One that memory can not hold is beyond what is left anyway.
    #[inline]
    fn size(&mut self) -> Result<usize, DecodeError> {
        Ok(usize::try_from(self.varint_32()?).unwrap_or(usize::MAX))
    }
}

#[inline]
pub(super) fn ttype(number: u8) -> Result<TType, DecodeError> {
    from_number(number).ok_or_else(|| unknown_type(number))
}

/// The fewest bytes that an element of the type takes.
pub(super) const fn least(ttype: TType) -> usize {
    match ttype {
        TType::Double => 8,
        TType::Uuid => 16,
        _ => 1,
    }
}

impl ThriftReader for Reader {
    #[inline]
    fn struct_begin(&mut self) -> Result<(), DecodeError> {
        Ok(self.ids.enter_struct()?)
    }

    #[inline]
    fn field(&mut self) -> Result<Option<FieldHeader>, DecodeError> {
        let byte = self.src.u8()?;
        let (step, number) = (byte >> 4, byte & 0x0f);
        let ttype = match ttype(number)? {
            TType::Stop if step == 0 => {
                self.ids.leave_struct();
                return Ok(None);
            }
            TType::Stop => return Err(unknown_type(number)),
            TType::Bool => {
                self.held = Some(number == TRUE);
                TType::Bool
            }
            other => other,
        };
        let id = match step {
            0 => self.i16()?,
            _ => self.ids.last().checked_add(step.into()).ok_or_else(|| no_i16("a field id"))?,
        };
        self.ids.set_last(id);
        Ok(Some(FieldHeader { ttype, id }))
    }

    fn skip_scalar(&mut self, ttype: TType) -> Result<(), DecodeError> {
        match ttype {
            TType::Bool => self.bool().map(drop),
            TType::I16 => self.i16().map(drop), // what is left out is checked as what is read
            TType::I32 => self.varint_32().map(drop),
            TType::I64 => self.varint_64().map(drop),
            TType::String => {
                let claimed = self.size()?;
                self.src.skip(self.src.count(claimed, 1)?)
            }
            fixed => self.src.skip(least(fixed)),
        }
    }

    fn look_ahead(&self, ttype: TType) -> Result<(), DecodeError> {
        self.clone().skip(ttype)
    }

    #[inline]
    fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.held.take() {
            Some(value) => Ok(value),
            None => Ok(self.src.u8()? == TRUE),
        }
    }

    #[inline]
    fn i8(&mut self) -> Result<i8, DecodeError> {
        Ok(self.src.u8()?.cast_signed())
    }

    #[inline]
    fn i16(&mut self) -> Result<i16, DecodeError> {
        i16::try_from(self.i32()?).map_err(|_| no_i16("an i16"))
    }

    #[inline]
    fn i32(&mut self) -> Result<i32, DecodeError> {
        self.varint_32().map(varint::unzigzag_32)
    }

    #[inline]
    fn i64(&mut self) -> Result<i64, DecodeError> {
        self.varint_64().map(varint::unzigzag_64)
    }

    #[inline]
    fn double(&mut self) -> Result<f64, DecodeError> {
        self.src.array().map(f64::from_le_bytes)
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let len = self.size()?;
        self.src.text(len)
    }

    fn bytes(&mut self) -> Result<Bytes, DecodeError> {
        let len = self.size()?;
        self.src.binary(len)
    }

    #[inline]
    fn uuid(&mut self) -> Result<[u8; 16], DecodeError> {
        self.src.array()
    }

    fn list_begin(&mut self) -> Result<(TType, usize), DecodeError> {
        self.ids.enter_container()?;
        let byte = self.src.u8()?;
        let element = ttype(byte & 0x0f)?;
        let claimed = match byte >> 4 {
            short @ ..=MAX_SHORT_COUNT => short.into(),
            _ => self.size()?,
        };
        Ok((element, self.src.count(claimed, least(element))?))
    }

    fn map_begin(&mut self) -> Result<(TType, TType, usize), DecodeError> {
        self.ids.enter_container()?;
        let claimed = self.size()?;
        if claimed == 0 {
            return Ok((TType::Stop, TType::Stop, 0));
        }
        let types = self.src.u8()?;
        let (key, value) = (ttype(types >> 4)?, ttype(types & 0x0f)?);
        Ok((key, value, self.src.count(claimed, least(key) + least(value))?))
    }

    #[inline]
    fn container_end(&mut self) {
        self.ids.leave_container();
    }
}

#[cold]
fn no_i16(what: &str) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, format!("{what} beyond 16 bits"))
}
