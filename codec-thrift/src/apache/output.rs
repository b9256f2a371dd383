use rpc_core::EncodeError;
use thrift::protocol::{
    TFieldIdentifier, TListIdentifier, TMapIdentifier, TMessageIdentifier, TOutputProtocol, TSerializable,
    TSetIdentifier, TStructIdentifier,
};
use thrift::{ProtocolError, ProtocolErrorKind};

use super::ttype::ours;
use crate::{TType, ThriftWriter};

/// Appends a struct, union or exception of Apache's.
///
/// # Errors
/// When it has no representation, and when the value is something else, such as an enum.
pub(super) fn write<T: TSerializable, W: ThriftWriter>(value: &T, writer: &mut W) -> Result<(), EncodeError> {
    let mut output = Output { writer, depth: 0, structs: 0, bool_field: None, fault: None };
    let written = value.write_to_out_protocol(&mut output);
    match (written, output.fault) {
        (_, Some(fault)) => Err(fault),
        (Ok(()), None) if (output.depth, output.structs) == (0, 1) => Ok(()),
        (Ok(()), None) => Err(EncodeError::new("the type's own code did not write one struct")),
        (Err(thrift::Error::Protocol(error)), None) => Err(EncodeError::new(error.message)),
        (Err(error), None) => Err(EncodeError::new(error.to_string())),
    }
}

/// A writer as generated code calls it.
struct Output<'a, W> {
    writer: &'a mut W,
    /// How many structs and containers are open.
    depth: usize,
    /// How many structs were begun outside of all others.
    structs: usize,
    /// The id of a bool's field, whose header is written with the value.
    bool_field: Option<i16>,
    /// What went wrong first: generated code sees it only in the `thrift` crate's form.
    fault: Option<EncodeError>,
}

impl<W: ThriftWriter> Output<'_, W> {
    /// Appends a value without parts.
    fn scalar(&mut self, write: impl FnOnce(&mut W)) -> thrift::Result<()> {
        self.result(|writer| {
            write(writer);
            Ok(())
        })
    }

    /// Appends something that stands within a struct.
    fn result(&mut self, write: impl FnOnce(&mut W) -> Result<(), EncodeError>) -> thrift::Result<()> {
        if self.depth == 0 {
            return Err(self.fail(EncodeError::new("no struct, union or exception")));
        }
        write(self.writer).map_err(|error| self.fail(error))
    }

    /// Begins a container.
    fn container(
        &mut self,
        size: i32,
        begin: impl FnOnce(&mut W, usize) -> Result<(), EncodeError>,
    ) -> thrift::Result<()> {
        self.result(|writer| {
            let size = usize::try_from(size);
            begin(writer, size.map_err(|_| EncodeError::new("a container of less than no elements"))?)
        })?;
        self.depth += 1;
        Ok(())
    }

    fn container_end(&mut self) -> thrift::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        self.writer.container_end();
        Ok(())
    }

    fn ttype(&mut self, ttype: thrift::protocol::TType) -> thrift::Result<TType> {
        ours(ttype).ok_or_else(|| self.fail(EncodeError::new(format!("a value of type {ttype}"))))
    }

    /// Keeps the error; returns the same for generated code.
    #[cold]
    fn fail(&mut self, error: EncodeError) -> thrift::Error {
        let message = error.to_string();
        self.fault.get_or_insert(error);
        thrift::Error::Protocol(ProtocolError { kind: ProtocolErrorKind::InvalidData, message })
    }

    #[cold]
    fn no_message(&mut self) -> thrift::Result<()> {
        Err(self.fail(EncodeError::new("the type's own code writes a message where a struct is")))
    }
}

impl<W: ThriftWriter> TOutputProtocol for Output<'_, W> {
    fn write_message_begin(&mut self, _: &TMessageIdentifier) -> thrift::Result<()> {
        self.no_message()
    }

    fn write_message_end(&mut self) -> thrift::Result<()> {
        self.no_message()
    }

    fn write_struct_begin(&mut self, _: &TStructIdentifier) -> thrift::Result<()> {
        self.writer.struct_begin().map_err(|error| self.fail(error))?;
        if self.depth == 0 {
            self.structs += 1;
        }
        self.depth += 1;
        Ok(())
    }

    fn write_struct_end(&mut self) -> thrift::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        self.writer.struct_end();
        Ok(())
    }

    fn write_field_begin(&mut self, identifier: &TFieldIdentifier) -> thrift::Result<()> {
        let ttype = self.ttype(identifier.field_type)?;
        match (ttype, identifier.id) {
            (_, None) => Err(self.fail(EncodeError::new("a field without an id"))),
            (TType::Bool, id) => {
                self.bool_field = id;
                Ok(())
            }
            (ttype, Some(id)) => self.scalar(|writer| writer.field(ttype, id)),
        }
    }

    fn write_field_end(&mut self) -> thrift::Result<()> {
        Ok(())
    }

    /// It is written with the struct's end.
    fn write_field_stop(&mut self) -> thrift::Result<()> {
        Ok(())
    }

    fn write_bool(&mut self, value: bool) -> thrift::Result<()> {
        match self.bool_field.take() {
            Some(id) => self.scalar(|writer| writer.field_bool(id, value)),
            None => self.scalar(|writer| writer.bool(value)),
        }
    }

    fn write_bytes(&mut self, value: &[u8]) -> thrift::Result<()> {
        self.result(|writer| writer.bytes(value))
    }

    fn write_i8(&mut self, value: i8) -> thrift::Result<()> {
        self.scalar(|writer| writer.i8(value))
    }

    fn write_i16(&mut self, value: i16) -> thrift::Result<()> {
        self.scalar(|writer| writer.i16(value))
    }

    fn write_i32(&mut self, value: i32) -> thrift::Result<()> {
        self.scalar(|writer| writer.i32(value))
    }

    fn write_i64(&mut self, value: i64) -> thrift::Result<()> {
        self.scalar(|writer| writer.i64(value))
    }

    fn write_double(&mut self, value: f64) -> thrift::Result<()> {
        self.scalar(|writer| writer.double(value))
    }

    fn write_uuid(&mut self, uuid: &uuid::Uuid) -> thrift::Result<()> {
        self.scalar(|writer| writer.uuid(uuid.as_bytes()))
    }

    fn write_string(&mut self, value: &str) -> thrift::Result<()> {
        self.write_bytes(value.as_bytes())
    }

    fn write_list_begin(&mut self, identifier: &TListIdentifier) -> thrift::Result<()> {
        let element = self.ttype(identifier.element_type)?;
        self.container(identifier.size, |writer, size| writer.list_begin(element, size))
    }

    fn write_list_end(&mut self) -> thrift::Result<()> {
        self.container_end()
    }

    fn write_set_begin(&mut self, identifier: &TSetIdentifier) -> thrift::Result<()> {
        let element = self.ttype(identifier.element_type)?;
        self.container(identifier.size, |writer, size| writer.list_begin(element, size))
    }

    fn write_set_end(&mut self) -> thrift::Result<()> {
        self.container_end()
    }

    fn write_map_begin(&mut self, identifier: &TMapIdentifier) -> thrift::Result<()> {
        // Without pairs it may come without types.
        let stop = thrift::protocol::TType::Stop;
        let key = self.ttype(identifier.key_type.unwrap_or(stop))?;
        let value = self.ttype(identifier.value_type.unwrap_or(stop))?;
        self.container(identifier.size, |writer, size| writer.map_begin(key, value, size))
    }

    fn write_map_end(&mut self) -> thrift::Result<()> {
        self.container_end()
    }

    fn flush(&mut self) -> thrift::Result<()> {
        Ok(())
    }

    fn write_byte(&mut self, value: u8) -> thrift::Result<()> {
        self.write_i8(value.cast_signed())
    }
}
