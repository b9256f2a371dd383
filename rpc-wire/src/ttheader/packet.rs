use bytes::{BufMut, Bytes, BytesMut};

use crate::framed::not_a_length;
use crate::message::checked_len;
use crate::{FrameError, WriteBuf};

/// One TTHeader message, cut out of the stream and taken apart:
///
/// ```text
///   0        4       6       8        12          14           14+4n
///   ├────────┼───────┼───────┼────────┼───────────┼────────────┼──────────
///   │ length │ 1000  │ flags │ id     │ n         │ the header │ payload
///                                                   4n bytes
/// ```
///
/// The length is that of everything behind it.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(super) flags: u16,
    pub(super) id: u32,
    whole: Bytes,
    /// Where the payload begins, which is the header's end.
    payload: usize,
}

/// The bytes of the length.
pub(crate) const PREFIX: usize = 4;
pub(crate) const MAGIC: [u8; 2] = [0x10, 0x00];
/// Everything before the header.
const FIXED: usize = 14;

/// How many bytes the packet at the front of `src` has; `None` while it is not whole.
pub(crate) fn whole(src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
    let Some((prefix, rest)) = src.split_first_chunk::<PREFIX>() else { return Ok(None) };
    let len = usize::try_from(u32::from_be_bytes(*prefix)).ok().filter(|len| *len <= limit);
    let len = len.ok_or_else(|| not_a_length(*prefix, limit))?;
    if len <= FIXED - PREFIX {
        return Err(FrameError::malformed(format!("ttheader: a length of {len}, which has no header")));
    }
    match rest.first_chunk() {
        None => Ok(None),
        Some(&MAGIC) => Ok((rest.len() >= len).then_some(PREFIX + len)),
        Some(other) => Err(FrameError::malformed(format!("ttheader: {other:02x?} in place of 1000"))),
    }
}

impl Packet {
    /// Takes a packet apart that is whole.
    ///
    /// # Errors
    /// When the header is longer than the packet.
    pub(crate) fn open(whole: Bytes) -> Result<Self, FrameError> {
        let Some((fixed, rest)) = whole.split_first_chunk::<FIXED>() else {
            return Err(FrameError::malformed("ttheader: cut short"));
        };
        let [_, _, _, _, _, _, f0, f1, i0, i1, i2, i3, w0, w1] = *fixed;
        let len = usize::from(u16::from_be_bytes([w0, w1])) * 4;
        if len == 0 || len > rest.len() {
            let detail = format!("ttheader: a header of {len} bytes where {} are left", rest.len());
            return Err(FrameError::malformed(detail));
        }
        let (flags, id) = (u16::from_be_bytes([f0, f1]), u32::from_be_bytes([i0, i1, i2, i3]));
        Ok(Self { flags, id, whole, payload: FIXED + len })
    }

    /// All of it, of which what is read from the header are slices.
    pub(super) fn whole(&self) -> &Bytes {
        &self.whole
    }

    /// The header, from its protocol id to its padding.
    pub(super) fn header(&self) -> &[u8] {
        self.whole.get(FIXED..self.payload).unwrap_or_default()
    }

    pub(super) fn payload(&self) -> &[u8] {
        self.whole.get(self.payload..).unwrap_or_default()
    }
}

/// Appends a packet: all before the payload, with what `header` writes in it. The caller appends so many bytes of payload.
///
/// # Errors
/// When `header` fails, when it writes more than 262,140 bytes, and when all is too long for its length field.
pub(super) fn put(
    flags: u16,
    id: u32,
    payload: usize,
    dst: &mut WriteBuf,
    header: impl FnOnce(&mut BytesMut) -> Result<(), FrameError>,
) -> Result<(), FrameError> {
    let dst = dst.tail_mut();
    let start = dst.len();
    let ([f0, f1], [i0, i1, i2, i3]) = (flags.to_be_bytes(), id.to_be_bytes());
    // The two lengths are written once they are known.
    dst.put_slice(&[0, 0, 0, 0, MAGIC[0], MAGIC[1], f0, f1, i0, i1, i2, i3, 0, 0]);
    header(dst)?;
    let header_at = start + FIXED;
    let padded = (dst.len() - header_at).next_multiple_of(4);
    while dst.len() < header_at + padded {
        dst.put_u8(0);
    }
    let words = u16::try_from(padded / 4).map_err(|_| {
        FrameError::Unsupported(format!("a header of {padded} bytes: ttheader has room for 262,140").into())
    })?;
    let len = checked_len(FIXED - PREFIX + padded + payload)?;
    patch(dst, start, len.to_be_bytes());
    patch(dst, header_at - 2, words.to_be_bytes());
    Ok(())
}

/// Writes over bytes that were appended before.
pub(super) fn patch<const N: usize>(dst: &mut BytesMut, at: usize, bytes: [u8; N]) {
    if let Some(place) = dst.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}
