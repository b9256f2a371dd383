//! The struct that stands in place of a result when a call fails below the service: `{1: string message, 2: i32 type}`.

use rpc_core::{DecodeError, EncodeError, Status};
use rpc_wire::{application_kind, status_from_application};

use crate::{TType, ThriftReader, ThriftWriter};

/// Appends the exception that says the status. A text beyond 64 KiB is cut.
pub(crate) fn write(status: &Status, writer: &mut impl ThriftWriter) {
    // A struct of one level with a text that short has a representation.
    let _ = try_write(status, writer);
}

fn try_write(status: &Status, writer: &mut impl ThriftWriter) -> Result<(), EncodeError> {
    let message = status.message();
    let (message, _) = message.split_at(message.floor_char_boundary(MAX_TEXT));
    writer.struct_begin()?;
    writer.field(TType::String, 1);
    writer.bytes(message.as_bytes())?;
    writer.field(TType::I32, 2);
    writer.i32(application_kind(status));
    writer.struct_end();
    Ok(())
}

/// Reads the status that an exception says.
pub(crate) fn read(reader: &mut impl ThriftReader) -> Result<Status, DecodeError> {
    let (mut message, mut kind) = (String::new(), 0);
    reader.struct_begin()?;
    while let Some(field) = reader.field()? {
        match (field.id, field.ttype) {
            // Not every server keeps to UTF-8 here, and a failure should not hide behind another.
            (1, TType::String) => message = String::from_utf8_lossy(&reader.bytes()?).into_owned(),
            (2, TType::I32) => kind = reader.i32()?,
            (_, ttype) => reader.skip(ttype)?,
        }
    }
    Ok(status_from_application(kind, message))
}

/// The longest text that is written, in bytes.
const MAX_TEXT: usize = 64 * 1024;
