//! The header that a mesh's proxies put before a message: texts by text, and then the message, framed or not. It is read and
//! never written. Source: `wire/thrift.md` §11.
//!
//! ```text
//!   0      2        4            4+n
//!   ├──────┼────────┼────────────┼──────────
//!   │ ffaf │ size n │ the texts  │ message
//! ```

use super::headers::Unknown;

pub(super) const MAGIC: [u8; 2] = [0xff, 0xaf];
/// All before the texts.
pub(super) const FIXED: usize = 4;

/// How many bytes the header at the front of `src` has: 0 where there is none, `None` while so few bytes can not tell.
///
/// # Errors
/// When no message begins so.
pub(super) fn len(src: &[u8]) -> Result<Option<usize>, Unknown> {
    match src {
        [first, rest @ ..] if *first == MAGIC[0] => match rest {
            [] | [0xaf] | [0xaf, _] => Ok(None),
            [0xaf, high, low, ..] => Ok(Some(FIXED + usize::from(u16::from_be_bytes([*high, *low])))),
            _ => Err(Unknown),
        },
        _ => Ok(Some(0)),
    }
}
