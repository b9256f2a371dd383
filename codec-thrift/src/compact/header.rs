use bytes::{Bytes, BytesMut};
use rpc_core::{DecodeError, DecodeErrorKind, Name, Status};
use rpc_wire::{Detect, Kind, MessageHead, MessageHeader, WriteBuf};

use super::{Reader, Writer, varint};
use crate::exception;
use crate::source::Source;

/// The message header: protocol, kind and version, id, name.
///
/// The id stands there as the varint of its bits without a sign, so that one of −1 takes five bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header;

const PROTOCOL: u8 = 0x82;
/// In the low five bits of the second byte; above it is the kind. A 2 there is fbthrift's own dialect.
const VERSION: u8 = 1;
const VERSION_BITS: u8 = 0x1f;

impl MessageHeader for Header {
    type Codec = crate::Compact;
    const FRAMED_NAME: &'static str = "thrift framed compact";
    const BUFFERED_NAME: &'static str = "thrift buffered compact";
    const TTHEADER_NAME: &'static str = "thrift compact over ttheader";

    fn detect(&self, first: &[u8]) -> Detect {
        match first {
            [PROTOCOL, kind, ..] if kind & VERSION_BITS == VERSION => Detect::Yes,
            [] | [PROTOCOL] => Detect::NeedMore,
            _ => Detect::No,
        }
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        let Some(start) = Start::read(message)? else { return Err(DecodeError::truncated()) };
        let mut src = Source::new(std::mem::take(message));
        src.skip(start.len)?;
        let name = Name::from_bytes(src.binary(start.name)?);
        *message = src.into_rest();
        Ok(MessageHead { kind: start.kind, name, id: start.id })
    }

    fn header_len(&self, name: usize, id: u32) -> usize {
        2 + varint::len(id) + varint::len(written_len(name)) + name
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        let start = dst.tail_mut();
        start.extend_from_slice(&[PROTOCOL, (kind as u8) << 5 | VERSION]);
        varint::put(id.into(), start);
        varint::put(written_len(name.len()).into(), start);
        dst.put_slice(name);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        exception::write(status, &mut Writer::new(dst));
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        exception::read(&mut Reader::new(body))
    }
}

/// A name longer than that was refused with the frame that it does not fit in.
fn written_len(name: usize) -> u32 {
    u32::try_from(name).unwrap_or(u32::MAX)
}

/// What stands before the name.
pub(super) struct Start {
    kind: u8,
    id: u32,
    /// The length of the name, as it is claimed.
    pub(super) name: usize,
    /// How many bytes all of this takes.
    pub(super) len: usize,
}

impl Start {
    /// Reads it off the front of a message; `None` while it is not whole.
    pub(super) fn read(message: &[u8]) -> Result<Option<Self>, DecodeError> {
        let (kind, rest) = match message {
            [] | [PROTOCOL] => return Ok(None),
            [PROTOCOL, kind, rest @ ..] if kind & VERSION_BITS == VERSION => (kind >> 5, rest),
            [PROTOCOL, kind, ..] => return Err(bad_version(kind & VERSION_BITS, VERSION)),
            [protocol, ..] => return Err(bad_version(*protocol, PROTOCOL)),
        };
        let Some((id, id_len)) = varint::read_32(rest)? else { return Ok(None) };
        let (_, rest) = rest.split_at_checked(id_len).unwrap_or_default();
        let Some((name, name_len)) = varint::read_32(rest)? else { return Ok(None) };
        let name = usize::try_from(name).unwrap_or(usize::MAX);
        Ok(Some(Self { kind, id, name, len: 2 + id_len + name_len }))
    }
}

#[cold]
fn bad_version(found: u8, expected: u8) -> DecodeError {
    let detail = format!("bad version: {found:02x} where {expected:02x} stands in Thrift compact");
    DecodeError::new(DecodeErrorKind::Malformed, detail)
}
