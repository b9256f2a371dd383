use bytes::{Buf, BufMut, Bytes, BytesMut};

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
    /// The header, from its protocol id to its padding.
    pub(super) header: Bytes,
    pub(super) payload: Bytes,
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
    pub(crate) fn open(mut packet: Bytes) -> Result<Self, FrameError> {
        let short = |_| FrameError::malformed("ttheader: cut short");
        packet.try_get_u32().map_err(short)?;
        packet.try_get_u16().map_err(short)?;
        let flags = packet.try_get_u16().map_err(short)?;
        let id = packet.try_get_u32().map_err(short)?;
        let words = packet.try_get_u16().map_err(short)?;
        let len = usize::from(words) * 4;
        if len == 0 || len > packet.len() {
            let detail = format!("ttheader: a header of {len} bytes where {} are left", packet.len());
            return Err(FrameError::malformed(detail));
        }
        let header = packet.split_to(len);
        Ok(Self { flags, id, header, payload: packet })
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
    dst.put_u32(0); // the length, once it is known
    dst.put_slice(&MAGIC);
    dst.put_u16(flags);
    dst.put_u32(id);
    dst.put_u16(0); // the header's length
    header(dst)?;
    let header_at = start + FIXED;
    let padded = (dst.len() - header_at).next_multiple_of(4);
    dst.resize(header_at + padded, 0);
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
