use bytes::{BufMut, BytesMut};
use rpc_core::EncodeError;

use crate::nesting::Depth;
use crate::writer::size;
use crate::{TType, ThriftWriter};

/// Appends values in the binary protocol.
#[derive(Debug)]
pub struct Writer<'a> {
    dst: &'a mut BytesMut,
    depth: Depth,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `dst`.
    pub fn new(dst: &'a mut BytesMut) -> Self {
        Self { dst, depth: Depth::default() }
    }
}

impl ThriftWriter for Writer<'_> {
    fn struct_begin(&mut self) -> Result<(), EncodeError> {
        Ok(self.depth.enter()?)
    }

    fn struct_end(&mut self) {
        self.depth.leave();
        self.dst.put_u8(TType::Stop.number());
    }

    fn field(&mut self, ttype: TType, id: i16) {
        let [high, low] = id.to_be_bytes();
        self.dst.put_slice(&[ttype.number(), high, low]);
    }

    fn field_bool(&mut self, id: i16, value: bool) {
        self.field(TType::Bool, id);
        self.bool(value);
    }

    fn bool(&mut self, value: bool) {
        self.dst.put_u8(value.into());
    }

    fn i8(&mut self, value: i8) {
        self.dst.put_i8(value);
    }

    fn i16(&mut self, value: i16) {
        self.dst.put_i16(value);
    }

    fn i32(&mut self, value: i32) {
        self.dst.put_i32(value);
    }

    fn i64(&mut self, value: i64) {
        self.dst.put_i64(value);
    }

    fn double(&mut self, value: f64) {
        self.dst.put_f64(value);
    }

    fn bytes(&mut self, value: &[u8]) -> Result<(), EncodeError> {
        let len = size(value.len())?;
        self.dst.reserve(4 + value.len()); // once for both
        self.dst.put_u32(len);
        self.dst.put_slice(value);
        Ok(())
    }

    fn uuid(&mut self, value: &[u8; 16]) {
        self.dst.put_slice(value);
    }

    fn list_begin(&mut self, element: TType, count: usize) -> Result<(), EncodeError> {
        self.depth.enter()?;
        let count = size(count)?;
        self.dst.put_u8(element.number());
        self.dst.put_u32(count);
        Ok(())
    }

    fn map_begin(&mut self, key: TType, value: TType, count: usize) -> Result<(), EncodeError> {
        self.depth.enter()?;
        let count = size(count)?;
        self.dst.put_slice(&[key.number(), value.number()]);
        self.dst.put_u32(count);
        Ok(())
    }

    fn container_end(&mut self) {
        self.depth.leave();
    }
}
