//! Bodies for fuzzers: they take any bytes and panic only when a promise is broken.

use bytes::Bytes;
use rpc_core::DecodeError;

use crate::{TType, ThriftReader, binary, compact};

/// Leaves out one struct of the binary protocol, whatever the bytes are.
///
/// # Errors
/// When they are no struct.
pub fn skip_struct(data: &[u8]) -> Result<(), DecodeError> {
    let mut reader = binary::Reader::new(Bytes::copy_from_slice(data));
    reader.skip(TType::Struct)?;
    reader.finish()
}

/// Leaves out one struct of the compact protocol, whatever the bytes are.
///
/// # Errors
/// When they are no struct.
pub fn skip_compact_struct(data: &[u8]) -> Result<(), DecodeError> {
    let mut reader = compact::Reader::new(Bytes::copy_from_slice(data));
    reader.skip(TType::Struct)?;
    reader.finish()
}
