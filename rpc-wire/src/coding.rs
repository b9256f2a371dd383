use bytes::{Buf, Bytes};
use rpc_core::{DecodeError, DecodeErrorKind};

/// Reads a message piece by piece and checks each length before it is used.
///
/// What it slices shares the message's memory: a small slice keeps the whole read buffer alive.
#[derive(Clone, Debug)]
pub struct Reader {
    bytes: Bytes,
}

type Result<T> = std::result::Result<T, DecodeError>;

impl Reader {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes that are left, which stay unread.
    pub fn rest(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes that are left, which count as read.
    pub fn into_rest(self) -> Bytes {
        self.bytes
    }

    /// The next `len` bytes, as a slice of the message.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn bytes(&mut self, len: usize) -> Result<Bytes> {
        if len > self.bytes.len() { Err(DecodeError::truncated()) } else { Ok(self.bytes.split_to(len)) }
    }

    /// Leaves `len` bytes out.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn skip(&mut self, len: usize) -> Result<()> {
        if len > self.bytes.len() {
            return Err(DecodeError::truncated());
        }
        self.bytes.advance(len);
        Ok(())
    }

    /// One byte.
    ///
    /// # Errors
    /// When none is left.
    pub fn u8(&mut self) -> Result<u8> {
        self.bytes.try_get_u8().map_err(|_| DecodeError::truncated())
    }

    /// Two bytes in network order.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u16(&mut self) -> Result<u16> {
        self.bytes.try_get_u16().map_err(|_| DecodeError::truncated())
    }

    /// Four bytes in network order.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u32(&mut self) -> Result<u32> {
        self.bytes.try_get_u32().map_err(|_| DecodeError::truncated())
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When bytes are left over.
    pub fn finish(self) -> Result<()> {
        match self.bytes.len() {
            0 => Ok(()),
            left => {
                Err(DecodeError::new(DecodeErrorKind::Leftover, format!("{left} bytes follow the value")))
            }
        }
    }
}
