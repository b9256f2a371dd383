//! The binary protocol: fixed widths, network order, 32-bit lengths.
//!
//! Messages are written with the strict header and read with it alone: the old header without a version can not be told from
//! garbage, and neither Kitex nor volo takes it.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rpc_core::{DecodeError, DecodeErrorKind, EncodeError, Name, Status};
use rpc_wire::{Detect, Kind, MessageHead, MessageHeader, Reader as Cursor, WriteBuf};
use rpc_wire::{application_kind, status_from_application};

use crate::{DEPTH_LIMIT, FieldHeader, TType, ThriftReader, ThriftWriter};

/// Appends values in the binary protocol.
#[derive(Debug)]
pub struct Writer<'a> {
    dst: &'a mut BytesMut,
    depth: usize,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `dst`.
    pub fn new(dst: &'a mut BytesMut) -> Self {
        Self { dst, depth: 0 }
    }

    fn descend(&mut self) -> Result<(), EncodeError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT { Err(EncodeError::new(TOO_DEEP)) } else { Ok(()) }
    }

    fn count(count: usize) -> Result<i32, EncodeError> {
        i32::try_from(count).map_err(|_| EncodeError::new("more than 2,147,483,647 elements"))
    }
}

const TOO_DEEP: &str = "nested deeper than 64 levels";

impl ThriftWriter for Writer<'_> {
    fn struct_begin(&mut self) -> Result<(), EncodeError> {
        self.descend()
    }

    fn struct_end(&mut self) {
        self.depth -= 1;
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
        let len =
            i32::try_from(value.len()).map_err(|_| EncodeError::new("longer than 2,147,483,647 bytes"))?;
        self.dst.reserve(4 + value.len()); // once for both
        self.dst.put_i32(len);
        self.dst.put_slice(value);
        Ok(())
    }

    fn uuid(&mut self, value: &[u8; 16]) {
        self.dst.put_slice(value);
    }

    fn list_begin(&mut self, element: TType, count: usize) -> Result<(), EncodeError> {
        self.descend()?;
        let count = Self::count(count)?;
        self.dst.put_u8(element.number());
        self.dst.put_i32(count);
        Ok(())
    }

    fn map_begin(&mut self, key: TType, value: TType, count: usize) -> Result<(), EncodeError> {
        self.descend()?;
        let count = Self::count(count)?;
        self.dst.put_slice(&[key.number(), value.number()]);
        self.dst.put_i32(count);
        Ok(())
    }

    fn container_end(&mut self) {
        self.depth -= 1;
    }
}

/// Reads values of the binary protocol out of one message.
#[derive(Debug)]
pub struct Reader {
    src: Bytes,
    depth: usize,
}

impl Reader {
    /// A reader at the start of `src`.
    pub fn new(src: Bytes) -> Self {
        Self { src, depth: 0 }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When bytes are left over.
    pub fn finish(self) -> Result<(), DecodeError> {
        Cursor::new(self.src).finish()
    }

    fn descend(&mut self) -> Result<(), DecodeError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            Err(DecodeError::new(DecodeErrorKind::Limit, TOO_DEEP))
        } else {
            Ok(())
        }
    }

    fn ttype(&mut self) -> Result<TType, DecodeError> {
        let tag = self.src.try_get_u8().map_err(|_| DecodeError::truncated())?;
        TType::from_number(tag).ok_or_else(|| unknown_type(tag))
    }

    /// The length of a text or binary, no more than what is left.
    fn len(&mut self) -> Result<usize, DecodeError> {
        let claimed = self.i32()?;
        match usize::try_from(claimed) {
            Ok(len) if len <= self.src.len() => Ok(len),
            Ok(len) => Err(beyond(len, self.src.len())),
            Err(_) => Err(negative(claimed)),
        }
    }

    /// The number of elements that take at least `least` bytes each, no more than what is left can hold.
    fn count(&mut self, least: usize) -> Result<usize, DecodeError> {
        let claimed = self.i32()?;
        match usize::try_from(claimed) {
            Ok(count) if count <= self.src.len() / least => Ok(count),
            Ok(count) => Err(beyond(count, self.src.len())),
            Err(_) => Err(negative(claimed)),
        }
    }

    fn skip_bytes(&mut self, len: usize) -> Result<(), DecodeError> {
        if len > self.src.len() {
            return Err(DecodeError::truncated());
        }
        self.src.advance(len);
        Ok(())
    }
}

#[cold]
fn unknown_type(tag: u8) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, format!("there is no type {tag}"))
}

#[cold]
fn beyond(claimed: usize, left: usize) -> DecodeError {
    DecodeError::new(
        DecodeErrorKind::Limit,
        format!("a size of {claimed} is claimed where {left} bytes are left"),
    )
}

#[cold]
fn negative(claimed: i32) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, format!("a size of {claimed}"))
}

/// The fewest bytes that a value of the type takes.
const fn least(ttype: TType) -> usize {
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
        self.descend()
    }

    fn field(&mut self) -> Result<Option<FieldHeader>, DecodeError> {
        match self.ttype()? {
            TType::Stop => {
                self.depth = self.depth.saturating_sub(1);
                Ok(None)
            }
            ttype => Ok(Some(FieldHeader { ttype, id: self.i16()? })),
        }
    }

    fn skip(&mut self, ttype: TType) -> Result<(), DecodeError> {
        match ttype {
            TType::Stop => Err(unknown_type(ttype.number())),
            TType::String => {
                let len = self.len()?;
                self.skip_bytes(len)
            }
            TType::Struct => {
                self.struct_begin()?;
                while let Some(field) = self.field()? {
                    self.skip(field.ttype)?;
                }
                Ok(())
            }
            TType::List | TType::Set => {
                let (element, count) = self.list_begin()?;
                for _ in 0..count {
                    self.skip(element)?;
                }
                self.container_end();
                Ok(())
            }
            TType::Map => {
                let (key, value, count) = self.map_begin()?;
                for _ in 0..count {
                    self.skip(key)?;
                    self.skip(value)?;
                }
                self.container_end();
                Ok(())
            }
            fixed => self.skip_bytes(least(fixed)),
        }
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.src.try_get_u8().map_err(|_| DecodeError::truncated())? != 0)
    }

    fn i8(&mut self) -> Result<i8, DecodeError> {
        self.src.try_get_i8().map_err(|_| DecodeError::truncated())
    }

    fn i16(&mut self) -> Result<i16, DecodeError> {
        self.src.try_get_i16().map_err(|_| DecodeError::truncated())
    }

    fn i32(&mut self) -> Result<i32, DecodeError> {
        self.src.try_get_i32().map_err(|_| DecodeError::truncated())
    }

    fn i64(&mut self) -> Result<i64, DecodeError> {
        self.src.try_get_i64().map_err(|_| DecodeError::truncated())
    }

    fn double(&mut self) -> Result<f64, DecodeError> {
        self.src.try_get_f64().map_err(|_| DecodeError::truncated())
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let len = self.len()?;
        let (text, _) = self.src.split_at_checked(len).ok_or_else(DecodeError::truncated)?;
        // A tenth of a call of 1 KiB went into the standard library's check, on each side.
        let text = simdutf8::basic::from_utf8(text).map_err(|_| not_utf8(text))?.to_owned();
        self.src.advance(len);
        Ok(text)
    }

    fn bytes(&mut self) -> Result<Bytes, DecodeError> {
        let len = self.len()?;
        Ok(self.src.split_to(len))
    }

    fn uuid(&mut self) -> Result<[u8; 16], DecodeError> {
        let uuid = *self.src.first_chunk::<16>().ok_or_else(DecodeError::truncated)?;
        self.src.advance(uuid.len());
        Ok(uuid)
    }

    fn list_begin(&mut self) -> Result<(TType, usize), DecodeError> {
        self.descend()?;
        // Apache's writers give an empty container of no known type the type 0.
        let element = self.ttype()?;
        Ok((element, self.count(least(element))?))
    }

    fn map_begin(&mut self) -> Result<(TType, TType, usize), DecodeError> {
        self.descend()?;
        let (key, value) = (self.ttype()?, self.ttype()?);
        Ok((key, value, self.count(least(key) + least(value))?))
    }

    fn container_end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

#[cold]
fn not_utf8(text: &[u8]) -> DecodeError {
    let valid = str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    DecodeError::new(DecodeErrorKind::NotUtf8, format!("not UTF-8 from byte {valid} on"))
}

/// The strict message header: version, kind, name, id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header;

/// The first two bytes of a strict header.
const VERSION: u16 = 0x8001;
/// Version, kind, and the lengths' and ids' four bytes each.
const HEADER_LEN: usize = 12;

impl MessageHeader for Header {
    type Codec = crate::Binary;
    const FRAMED_NAME: &'static str = "thrift framed binary";

    fn detect(&self, first: &[u8]) -> Detect {
        match first {
            [0x80, 0x01, ..] => Detect::Yes,
            [] | [0x80] => Detect::NeedMore,
            _ => Detect::No,
        }
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        let mut cursor = Cursor::new(std::mem::take(message));
        let (version, kind) = (cursor.u16()?, cursor.u16()?);
        if version != VERSION {
            let detail = format!("bad version: {version:04x} where 8001 stands in Thrift binary");
            return Err(DecodeError::new(DecodeErrorKind::Malformed, detail));
        }
        let claimed = cursor.u32()?;
        let len = usize::try_from(claimed).ok().filter(|len| *len <= cursor.remaining());
        let len = len.ok_or_else(|| {
            DecodeError::new(
                DecodeErrorKind::Limit,
                format!("a name of {claimed} bytes in {}", cursor.remaining()),
            )
        })?;
        let name = Name::from_bytes(cursor.bytes(len)?);
        let id = cursor.u32()?;
        *message = cursor.into_rest();
        // The upper byte of the kind is unused; one that is not 0 makes the kind unknown, as in Kitex.
        Ok(MessageHead { kind: u8::try_from(kind).unwrap_or(u8::MAX), name, id })
    }

    fn header_len(&self, name: usize, _: u32) -> usize {
        HEADER_LEN + name
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        dst.put_u16(VERSION);
        dst.put_u16(kind as u16);
        // A name longer than that was refused with the frame that it does not fit in.
        dst.put_u32(u32::try_from(name.len()).unwrap_or(u32::MAX));
        dst.put_slice(name);
        dst.put_u32(id);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        let mut writer = Writer::new(dst);
        writer.field(TType::String, 1);
        let message = status.message().as_bytes();
        let message = message.get(..MAX_EXCEPTION_TEXT).unwrap_or(message);
        // It is short enough for its length field.
        let _ = writer.bytes(message);
        writer.field(TType::I32, 2);
        writer.i32(application_kind(status));
        dst.put_u8(TType::Stop.number());
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        let mut reader = Reader::new(body);
        let (mut message, mut kind) = (String::new(), 0);
        reader.struct_begin()?;
        while let Some(field) = reader.field()? {
            match (field.id, field.ttype) {
                // Not every server keeps to UTF-8 here, and a failure should not hide behind another.
                (1, TType::String) => message = String::from_utf8_lossy(&reader.bytes()?).into_owned(),
                (2, TType::I32) => kind = reader.i32()?,
                (_, ttype) => reader.skip(ttype)?,
            }
        }
        Ok(status_from_application(kind, message))
    }
}

/// The longest text of an application exception that is written, in bytes.
const MAX_EXCEPTION_TEXT: usize = 64 * 1024;
