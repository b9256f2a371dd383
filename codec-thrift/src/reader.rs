use bytes::Bytes;
use rpc_core::DecodeError;

use crate::TType;
use crate::source::unknown_type;

/// What stands before a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldHeader {
    /// The value's type.
    pub ttype: TType,
    /// The field's id.
    pub id: i16,
}

/// A protocol as a generated type reads from it. Every length and count is checked against what is left before anything is
/// allocated for it, and nesting is bounded by [`DEPTH_LIMIT`](crate::DEPTH_LIMIT).
///
/// # Errors
/// Every method fails when the bytes end too early or are not of the protocol.
pub trait ThriftReader {
    /// A struct begins.
    fn struct_begin(&mut self) -> Result<(), DecodeError>;
    /// The next field, or `None` at the end of the struct.
    fn field(&mut self) -> Result<Option<FieldHeader>, DecodeError>;
    /// Leaves a value out that has no parts: a number, a bool, a UUID, or text, which need not be UTF-8.
    fn skip_scalar(&mut self, ttype: TType) -> Result<(), DecodeError>;
    /// Whether a whole value follows, as [`skip`](Self::skip) would leave it out. Nothing is read.
    fn look_ahead(&self, ttype: TType) -> Result<(), DecodeError>;
    /// A bool.
    fn bool(&mut self) -> Result<bool, DecodeError>;
    /// An i8.
    fn i8(&mut self) -> Result<i8, DecodeError>;
    /// An i16.
    fn i16(&mut self) -> Result<i16, DecodeError>;
    /// An i32.
    fn i32(&mut self) -> Result<i32, DecodeError>;
    /// An i64.
    fn i64(&mut self) -> Result<i64, DecodeError>;
    /// A double.
    fn double(&mut self) -> Result<f64, DecodeError>;
    /// Text, checked to be UTF-8 and copied.
    fn string(&mut self) -> Result<String, DecodeError>;
    /// Binary, a slice of the message.
    fn bytes(&mut self) -> Result<Bytes, DecodeError>;
    /// A UUID's 16 bytes.
    fn uuid(&mut self) -> Result<[u8; 16], DecodeError>;
    /// A list or a set begins: the elements' type and their number. The number is no more than the bytes that are left can
    /// hold, so it may be reserved for.
    fn list_begin(&mut self) -> Result<(TType, usize), DecodeError>;
    /// A map begins: the types of keys and values and the number of pairs, which is bounded in the same way. An empty map
    /// may come without types: they are [`TType::Stop`] then.
    fn map_begin(&mut self) -> Result<(TType, TType, usize), DecodeError>;
    /// The list, set or map has no more elements.
    fn container_end(&mut self);

    /// Leaves a value out, whatever it holds.
    fn skip(&mut self, ttype: TType) -> Result<(), DecodeError> {
        match ttype {
            TType::Stop => return Err(unknown_type(ttype.number())),
            TType::Struct => {
                self.struct_begin()?;
                while let Some(field) = self.field()? {
                    self.skip(field.ttype)?;
                }
            }
            TType::List | TType::Set => {
                let (element, count) = self.list_begin()?;
                for _ in 0..count {
                    self.skip(element)?;
                }
                self.container_end();
            }
            TType::Map => {
                let (key, value, count) = self.map_begin()?;
                for _ in 0..count {
                    self.skip(key)?;
                    self.skip(value)?;
                }
                self.container_end();
            }
            scalar => return self.skip_scalar(scalar),
        }
        Ok(())
    }
}
