use bytes::Bytes;
use rpc_core::DecodeError;

use crate::TType;

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
    /// Leaves a value out, whatever it holds: text in it need not be UTF-8.
    fn skip(&mut self, ttype: TType) -> Result<(), DecodeError>;
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
}
