use bytes::{Bytes, BytesMut};
use rpc_core::{DecodeError, DecodeErrorKind, Name, Status};
use rpc_wire::{Detect, Kind, MessageHead, MessageHeader, Reader as Cursor, WriteBuf};

use super::{Reader, Writer};
use crate::exception;

/// The strict message header: version, kind, name, id.
///
/// It is written always and, as a default, read alone: the old header without a version can not be told from garbage, and
/// neither Kitex nor volo takes it.
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
        exception::write(status, &mut Writer::new(dst));
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        exception::read(&mut Reader::new(body))
    }
}
