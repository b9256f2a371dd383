use bytes::Bytes;
use rpc_core::{DecodeError, DecodeErrorKind};

use crate::nesting::Depth;
use crate::source::{Source, unknown_type};
use crate::{FieldHeader, TType, ThriftReader};

/// Reads values of the binary protocol out of one message.
#[derive(Clone, Debug)]
pub struct Reader {
    src: Source,
    depth: Depth,
}

impl Reader {
    /// A reader at the start of `src`.
    pub fn new(src: Bytes) -> Self {
        Self { src: Source::new(src), depth: Depth::default() }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When bytes are left over.
    pub fn finish(self) -> Result<(), DecodeError> {
        self.src.finish()
    }

    fn ttype(&mut self) -> Result<TType, DecodeError> {
        let tag = self.src.u8()?;
        TType::from_number(tag).ok_or_else(|| unknown_type(tag))
    }

    /// The length or count that stands here, as it is claimed.
    fn size(&mut self) -> Result<usize, DecodeError> {
        let claimed = self.i32()?;
        usize::try_from(claimed).map_err(|_| negative(claimed))
    }

    fn count(&mut self, least: usize) -> Result<usize, DecodeError> {
        let claimed = self.size()?;
        self.src.count(claimed, least)
    }
}

#[cold]
pub(super) fn negative(claimed: i32) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, format!("a size of {claimed}"))
}

/// The fewest bytes that a value of the type takes.
pub(super) const fn least(ttype: TType) -> usize {
    match ttype {
        TType::Stop | TType::Bool | TType::I8 | TType::Struct => 1,
        TType::I16 => 2,
        TType::I32 | TType::String => 4,
        TType::I64 | TType::Double => 8,
        TType::Set | TType::List => 5,
        TType::Map => 6,
        TType::Uuid => 16,
    }
}

impl ThriftReader for Reader {
    fn struct_begin(&mut self) -> Result<(), DecodeError> {
        Ok(self.depth.enter()?)
    }

    fn field(&mut self) -> Result<Option<FieldHeader>, DecodeError> {
        if self.src.peek() == Some(TType::Stop.number()) {
            self.src.skip(1)?;
            self.depth.leave();
            return Ok(None);
        }
        let [tag, high, low] = self.src.array()?;
        let ttype = TType::from_number(tag).ok_or_else(|| unknown_type(tag))?;
        Ok(Some(FieldHeader { ttype, id: i16::from_be_bytes([high, low]) }))
    }

    fn skip_scalar(&mut self, ttype: TType) -> Result<(), DecodeError> {
        let len = match ttype {
            TType::String => self.count(1)?,
            fixed => least(fixed),
        };
        self.src.skip(len)
    }

    fn look_ahead(&self, ttype: TType) -> Result<(), DecodeError> {
        self.clone().skip(ttype)
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.src.u8()? != 0)
    }

    fn i8(&mut self) -> Result<i8, DecodeError> {
        Ok(self.src.u8()?.cast_signed())
    }

    fn i16(&mut self) -> Result<i16, DecodeError> {
        self.src.array().map(i16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, DecodeError> {
        self.src.array().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Result<i64, DecodeError> {
        self.src.array().map(i64::from_be_bytes)
    }

    fn double(&mut self) -> Result<f64, DecodeError> {
        self.src.array().map(f64::from_be_bytes)
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let len = self.size()?;
        self.src.text(len)
    }

    fn bytes(&mut self) -> Result<Bytes, DecodeError> {
        let len = self.size()?;
        self.src.binary(len)
    }

    fn uuid(&mut self) -> Result<[u8; 16], DecodeError> {
        self.src.array()
    }

    fn list_begin(&mut self) -> Result<(TType, usize), DecodeError> {
        self.depth.enter()?;
        // Apache's writers give an empty container of no known type the type 0.
        let element = self.ttype()?;
        Ok((element, self.count(least(element))?))
    }

    fn map_begin(&mut self) -> Result<(TType, TType, usize), DecodeError> {
        self.depth.enter()?;
        let (key, value) = (self.ttype()?, self.ttype()?);
        Ok((key, value, self.count(least(key) + least(value))?))
    }

    fn container_end(&mut self) {
        self.depth.leave();
    }
}
