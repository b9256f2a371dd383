//! The checksum of a payload, as the text that stands in the header: CRC-32C, eight lower-case hex digits.
//!
//! It is over everything behind the header, a frame's length included.

use std::io::IoSlice;

use bytes::Buf;

use crate::{FrameError, WriteBuf};

fn text(checksum: u32) -> String {
    format!("{checksum:08x}")
}

/// The checksum of bytes that are to be written.
pub(super) fn of(payload: &WriteBuf) -> String {
    // What stands before the body is in one piece, which the body is copied to or follows.
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = payload.chunks_vectored(&mut slices);
    let pieces = slices.iter().take(filled);
    text(pieces.fold(0, |checksum, piece| crc32c::crc32c_append(checksum, piece)))
}

/// Checks a payload against the header's text. An empty text says nothing, as in Kitex.
///
/// # Errors
/// When they differ.
pub(super) fn check(payload: &[u8], said: &[u8]) -> Result<(), FrameError> {
    if said.is_empty() || said.eq_ignore_ascii_case(text(crc32c::crc32c(payload)).as_bytes()) {
        return Ok(());
    }
    Err(FrameError::malformed("ttheader: the payload's checksum is another than the header says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values() {
        assert_eq!(text(crc32c::crc32c(b"123456789")), "e3069283");
        let call = crate::testing::golden(include_str!("../../testdata/t1-call.hex"));
        let framed = [&[0, 0, 0, 26][..], &call].concat();
        assert_eq!(check(&framed, b"3e4685e4"), Ok(()));
        assert_eq!(check(&framed, b""), Ok(()));
        for wrong in [&b"3e4685e5"[..], b"3e4685e", b"3e4685e40", b"e485463e"] {
            assert!(check(&framed, wrong).is_err());
        }
        let mut buffer = WriteBuf::new();
        buffer.put_slice(&framed[..3]);
        buffer.put_bytes(&bytes::Bytes::from(vec![7; WriteBuf::CHAIN_FROM]));
        buffer.put_slice(&framed[3..]);
        let whole = [&framed[..3], &vec![7; WriteBuf::CHAIN_FROM], &framed[3..]].concat();
        assert_eq!(check(&whole, of(&buffer).as_bytes()), Ok(()));
    }
}
