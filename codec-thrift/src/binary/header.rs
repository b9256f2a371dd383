use bytes::{Bytes, BytesMut};
use rpc_core::{DecodeError, DecodeErrorKind, Name, Status};
use rpc_wire::{Detect, Kind, MessageHead, MessageHeader, WriteBuf};

use super::{Reader, Writer};
use crate::exception;
use crate::source::Source;

/// The message header: version, kind, name, id.
///
/// Messages are written with it always and, as a default, read with it alone: the old header, which has no version, can hardly
/// be told from garbage, and neither Kitex nor volo takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    accepts_old: bool,
}

impl Header {
    /// Reads the strict header alone.
    pub const fn new() -> Self {
        Self { accepts_old: false }
    }

    /// Reads messages with the old header too, as they come from Apache's clients that were told not to write the strict
    /// one. Such a client reads strict answers, so that the answers stay as they are.
    #[must_use]
    pub const fn accept_non_strict(self) -> Self {
        Self { accepts_old: true }
    }

    /// Reads the header off the front of a message as far as its layout; `None` while that can not be told.
    pub(super) fn layout(&self, message: &[u8]) -> Result<Option<Layout>, DecodeError> {
        let (form, name) = match *message {
            [0x80, 0x01, _, _, a, b, c, d, ..] => (Form::Strict, [a, b, c, d]),
            [0x80, 0x01, ..] | [] | [_] | [_, _] | [_, _, _] => return Ok(None),
            [a @ 0..=0x7f, b, c, d, ..] if self.accepts_old => (Form::Old, [a, b, c, d]),
            [high, low, ..] => return Err(bad_version(u16::from_be_bytes([high, low]))),
        };
        let name = u32::from_be_bytes(name);
        Ok(Some(Layout { form, name: usize::try_from(name).unwrap_or(usize::MAX) }))
    }
}

#[derive(Clone, Copy)]
enum Form {
    /// Version and kind, the name's length, the name, the id.
    Strict,
    /// The name's length, the name, a byte of kind, the id.
    Old,
}

/// Where the parts of a header are.
pub(super) struct Layout {
    form: Form,
    /// The length of the name, as it is claimed.
    name: usize,
}

impl Layout {
    /// How many bytes the whole header takes.
    pub(super) fn len(&self) -> usize {
        let around = match self.form {
            Form::Strict => STRICT_LEN,
            Form::Old => OLD_LEN,
        };
        self.name.saturating_add(around)
    }
}

/// The first two bytes of a strict header.
const VERSION: u16 = 0x8001;
/// A strict header without its name: version, kind, and the length's and the id's four bytes each.
const STRICT_LEN: usize = 12;
/// An old header without its name.
const OLD_LEN: usize = 9;

impl MessageHeader for Header {
    type Codec = crate::Binary;
    const FRAMED_NAME: &'static str = "thrift framed binary";
    const BUFFERED_NAME: &'static str = "thrift buffered binary";
    const TTHEADER_NAME: &'static str = "thrift binary over ttheader";

    /// An old header is told by what could be the length of a name of up to 64 KiB and the name's first letter.
    fn detect(&self, first: &[u8]) -> Detect {
        match first {
            [0x80, 0x01, ..] => Detect::Yes,
            [] | [0x80] => Detect::NeedMore,
            [0, 0, _, _, b'A'..=b'Z' | b'a'..=b'z' | b'_', ..] if self.accepts_old => Detect::Yes,
            [0] | [0, 0] | [0, 0, _] | [0, 0, _, _] if self.accepts_old => Detect::NeedMore,
            _ => Detect::No,
        }
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        let layout = self.layout(message)?.ok_or_else(DecodeError::truncated)?;
        let mut src = Source::new(std::mem::take(message));
        let (kind, name) = match layout.form {
            Form::Strict => {
                let [_, _, unused, kind, ..] = src.array::<8>()?;
                let name = src.binary(layout.name)?;
                // One that is not 0 makes the kind unknown, as in Kitex.
                (if unused == 0 { kind } else { u8::MAX }, name)
            }
            Form::Old => {
                src.skip(4)?;
                let name = src.binary(layout.name)?;
                (src.u8()?, name)
            }
        };
        let id = src.array().map(u32::from_be_bytes)?;
        *message = src.into_rest();
        Ok(MessageHead { kind, name: Name::from_bytes(name), id })
    }

    fn header_len(&self, name: usize, _: u32) -> usize {
        STRICT_LEN + name
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

#[cold]
fn bad_version(found: u16) -> DecodeError {
    let detail = format!("bad version: {found:04x} where {VERSION:04x} stands in Thrift binary");
    DecodeError::new(DecodeErrorKind::Malformed, detail)
}
