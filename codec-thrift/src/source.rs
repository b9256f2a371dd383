use bytes::{Buf, Bytes};
use rpc_core::{DecodeError, DecodeErrorKind};

/// What is left of a message. Each length and count that a peer names is checked against it before it is used.
#[derive(Clone, Debug)]
pub(crate) struct Source(Bytes);

impl Source {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The bytes that are left, which stay unread.
    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.0
    }

    /// The bytes that are left, which count as read.
    pub(crate) fn into_rest(self) -> Bytes {
        self.0
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.0.try_get_u8().map_err(|_| DecodeError::truncated())
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let array = *self.0.first_chunk::<N>().ok_or_else(DecodeError::truncated)?;
        self.0.advance(N);
        Ok(array)
    }

    #[inline]
    pub(crate) fn skip(&mut self, len: usize) -> Result<(), DecodeError> {
        if len > self.0.len() {
            return Err(DecodeError::truncated());
        }
        self.0.advance(len);
        Ok(())
    }

    /// A number of elements that the message claims, of at least `least` bytes each.
    #[inline]
    pub(crate) fn count(&self, claimed: usize, least: usize) -> Result<usize, DecodeError> {
        let left = self.0.len();
        if claimed > left / least { Err(beyond(claimed, left)) } else { Ok(claimed) }
    }

    pub(crate) fn binary(&mut self, claimed: usize) -> Result<Bytes, DecodeError> {
        let len = self.count(claimed, 1)?;
        Ok(self.0.split_to(len))
    }

    pub(crate) fn text(&mut self, claimed: usize) -> Result<String, DecodeError> {
        let Some((text, _)) = self.0.split_at_checked(claimed) else {
            return Err(beyond(claimed, self.0.len()));
        };
        // A tenth of a call of 1 KiB went into the standard library's check, on each side.
        let text = simdutf8::basic::from_utf8(text).map_err(|_| not_utf8(text))?.to_owned();
        self.0.advance(claimed);
        Ok(text)
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When bytes are left over.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        rpc_wire::Reader::new(self.0).finish()
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
