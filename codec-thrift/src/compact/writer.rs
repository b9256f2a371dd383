use bytes::{BufMut, BytesMut};
use rpc_core::EncodeError;

use super::field_ids::FieldIds;
use super::{FALSE, MAX_SHORT_COUNT, MAX_STEP, TRUE, number, varint};
use crate::writer::size;
use crate::{TType, ThriftWriter};

/// Appends values in the compact protocol.
#[derive(Debug)]
pub struct Writer<'a> {
    dst: &'a mut BytesMut,
    ids: FieldIds,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `dst`.
    pub fn new(dst: &'a mut BytesMut) -> Self {
        Self { dst, ids: FieldIds::new() }
    }

    /// A field's header, with the number that says its type.
    #[inline]
    fn header(&mut self, number: u8, id: i16) {
        let step = id.checked_sub(self.ids.last()).filter(|step| (1..=MAX_STEP).contains(step));
        match step.and_then(|step| u8::try_from(step).ok()) {
            Some(step) => self.dst.put_u8(step << 4 | number),
            None => {
                self.dst.put_u8(number);
                self.i16(id);
            }
        }
        self.ids.set_last(id);
    }
}

impl ThriftWriter for Writer<'_> {
    #[inline]
    fn struct_begin(&mut self) -> Result<(), EncodeError> {
        Ok(self.ids.enter_struct()?)
    }

    #[inline]
    fn struct_end(&mut self) {
        self.ids.leave_struct();
        self.dst.put_u8(number(TType::Stop));
    }

    #[inline]
    fn field(&mut self, ttype: TType, id: i16) {
        self.header(number(ttype), id);
    }

    #[inline]
    fn field_bool(&mut self, id: i16, value: bool) {
        self.header(bool_number(value), id);
    }

    #[inline]
    fn bool(&mut self, value: bool) {
        self.dst.put_u8(bool_number(value));
    }

    #[inline]
    fn i8(&mut self, value: i8) {
        self.dst.put_i8(value);
    }

    #[inline]
    fn i16(&mut self, value: i16) {
        self.i32(value.into());
    }

    #[inline]
    fn i32(&mut self, value: i32) {
        varint::put(varint::zigzag_32(value), self.dst);
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        varint::put(varint::zigzag_64(value), self.dst);
    }

    #[inline]
    fn double(&mut self, value: f64) {
        self.dst.put_f64_le(value);
    }

    fn bytes(&mut self, value: &[u8]) -> Result<(), EncodeError> {
        let len = size(value.len())?;
        self.dst.reserve(varint::MAX_LEN_32 + value.len()); // once for both
        varint::put(len.into(), self.dst);
        self.dst.put_slice(value);
        Ok(())
    }

    #[inline]
    fn uuid(&mut self, value: &[u8; 16]) {
        self.dst.put_slice(value);
    }

    fn list_begin(&mut self, element: TType, count: usize) -> Result<(), EncodeError> {
        self.ids.enter_container()?;
        let count = size(count)?;
        match u8::try_from(count) {
            Ok(count @ ..=MAX_SHORT_COUNT) => self.dst.put_u8(count << 4 | number(element)),
            _ => {
                self.dst.put_u8(0xf0 | number(element));
                varint::put(count.into(), self.dst);
            }
        }
        Ok(())
    }

    fn map_begin(&mut self, key: TType, value: TType, count: usize) -> Result<(), EncodeError> {
        self.ids.enter_container()?;
        varint::put(size(count)?.into(), self.dst);
        if count != 0 {
            self.dst.put_u8(number(key) << 4 | number(value));
        }
        Ok(())
    }

    #[inline]
    fn container_end(&mut self) {
        self.ids.leave_container();
    }
}

const fn bool_number(value: bool) -> u8 {
    if value { TRUE } else { FALSE }
}
