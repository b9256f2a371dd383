use bytes::Bytes;
use rpc_core::{DecodeError, DecodeErrorKind};

/// Below this many bytes `simdutf8` leaves text to the standard library.
const SHORT: usize = 64;

/// What is left of a message. Each length and count that a peer names is checked against it before it is used.
///
/// Only a place moves: taking the front off a `Bytes` writes twice as much, and what a call reads next waits for that.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    bytes: Bytes,
    at: usize,
}

impl Source {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes, at: 0 }
    }

    /// The bytes that are left, which stay unread.
    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The bytes that are left, which count as read.
    pub(crate) fn into_rest(mut self) -> Bytes {
        self.bytes.split_off(self.at)
    }

    /// The next byte, which stays unread.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        let byte = self.peek().ok_or_else(DecodeError::truncated)?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let array = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>);
        let array = *array.ok_or_else(DecodeError::truncated)?;
        self.at += N;
        Ok(array)
    }

    #[inline]
    pub(crate) fn skip(&mut self, len: usize) -> Result<(), DecodeError> {
        if len > self.rest().len() {
            return Err(DecodeError::truncated());
        }
        self.at += len;
        Ok(())
    }

    /// A number of elements that the message claims, of at least `least` bytes each.
    #[inline]
    pub(crate) fn count(&self, claimed: usize, least: usize) -> Result<usize, DecodeError> {
        let left = self.rest().len();
        if claimed > left / least { Err(beyond(claimed, left)) } else { Ok(claimed) }
    }

    pub(crate) fn binary(&mut self, claimed: usize) -> Result<Bytes, DecodeError> {
        let end = self.at + self.count(claimed, 1)?;
        let binary = self.bytes.slice(self.at..end);
        self.at = end;
        Ok(binary)
    }

    pub(crate) fn text(&mut self, claimed: usize) -> Result<String, DecodeError> {
        let rest = self.rest();
        let Some(text) = rest.get(..claimed) else {
            return Err(beyond(claimed, rest.len()));
        };
        let text = if claimed < SHORT {
            // The standard library's check is several times as quick where the text is aligned, as a copy is.
            String::from_utf8(text.to_vec()).map_err(|_| not_utf8(text))?
        } else {
            // A tenth of a call of 1 KiB went into the standard library's check, on each side.
            simdutf8::basic::from_utf8(text).map_err(|_| not_utf8(text))?.to_owned()
        };
        self.at += claimed;
        Ok(text)
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When bytes are left over.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        rpc_wire::Reader::new(self.into_rest()).finish()
    }
}

#[cold]
fn beyond(claimed: usize, left: usize) -> DecodeError {
    DecodeError::new(
        DecodeErrorKind::Limit,
        format!("a size of {claimed} is claimed where {left} bytes are left"),
    )
}

#[cold]
fn not_utf8(text: &[u8]) -> DecodeError {
    let valid = str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    DecodeError::new(DecodeErrorKind::NotUtf8, format!("not UTF-8 from byte {valid} on"))
}

/// A tag that names no type, or the end of a struct where a value should be.
#[cold]
pub(crate) fn unknown_type(tag: u8) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, format!("there is no type {tag}"))
}
