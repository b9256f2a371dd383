use rpc_core::EncodeError;

use crate::TType;

/// A protocol as a generated type writes to it. Everything is appended; nothing is flushed.
///
/// Calls come in the order of the wire: a struct is `struct_begin`, then for each field `field` and the value, then
/// `struct_end`; a container is its `*_begin`, then the elements, then `container_end`.
pub trait ThriftWriter {
    /// A struct, union or exception begins.
    ///
    /// # Errors
    /// When it is nested deeper than [`DEPTH_LIMIT`](crate::DEPTH_LIMIT).
    fn struct_begin(&mut self) -> Result<(), EncodeError>;
    /// The struct has no more fields.
    fn struct_end(&mut self);
    /// A field's tag and id; its value follows. A bool is written by [`field_bool`](Self::field_bool) instead.
    fn field(&mut self, ttype: TType, id: i16);
    /// A whole bool field.
    fn field_bool(&mut self, id: i16, value: bool);
    /// An element of type bool.
    fn bool(&mut self, value: bool);
    /// An i8.
    fn i8(&mut self, value: i8);
    /// An i16.
    fn i16(&mut self, value: i16);
    /// An i32.
    fn i32(&mut self, value: i32);
    /// An i64.
    fn i64(&mut self, value: i64);
    /// A double.
    fn double(&mut self, value: f64);
    /// Text or binary.
    ///
    /// # Errors
    /// When it is longer than a length field can say.
    fn bytes(&mut self, value: &[u8]) -> Result<(), EncodeError>;
    /// A UUID's 16 bytes.
    fn uuid(&mut self, value: &[u8; 16]);
    /// A list or a set begins.
    ///
    /// # Errors
    /// When it is nested too deep, or has more elements than a count can say.
    fn list_begin(&mut self, element: TType, count: usize) -> Result<(), EncodeError>;
    /// A map begins.
    ///
    /// # Errors
    /// When it is nested too deep, or has more pairs than a count can say.
    fn map_begin(&mut self, key: TType, value: TType, count: usize) -> Result<(), EncodeError>;
    /// The list, set or map has no more elements.
    fn container_end(&mut self);
}

/// A length or a count as the wire says it: a signed number of 32 bits that is not negative.
#[inline]
pub(crate) fn size(size: usize) -> Result<u32, EncodeError> {
    i32::try_from(size).map(i32::cast_unsigned).map_err(|_| EncodeError::new("a size beyond 2,147,483,647"))
}
