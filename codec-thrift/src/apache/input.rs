use std::panic::{AssertUnwindSafe, catch_unwind};

use rpc_core::{DecodeError, DecodeErrorKind};
use thrift::protocol::{
    TFieldIdentifier, TInputProtocol, TListIdentifier, TMapIdentifier, TMessageIdentifier, TSerializable,
    TSetIdentifier, TStructIdentifier,
};
use thrift::{ProtocolError, ProtocolErrorKind};

use super::ttype::{ours, theirs};
use crate::{TType, ThriftReader};

/// Reads a struct, union or exception of Apache's.
///
/// # Errors
/// When the bytes are no such struct.
pub(super) fn read<T: TSerializable, R: ThriftReader>(reader: &mut R) -> Result<T, DecodeError> {
    reader.look_ahead(TType::Struct)?;
    let mut input =
        Input { reader, open: vec![Open::elements(TType::Struct, TType::Struct, 1)], fault: None };
    let read = catch_unwind(AssertUnwindSafe(|| T::read_from_in_protocol(&mut input)));
    match (read, input.fault, &input.open[..]) {
        (_, Some(fault), _) => Err(fault),
        (Ok(Ok(value)), None, [Open::Elements { left: 0, .. }]) => Ok(value),
        (Ok(Ok(_)), None, _) => Err(malformed("the type's own code did not read it to its end")),
        (Ok(Err(thrift::Error::Protocol(error))), None, _) => Err(malformed(error.message)),
        (Ok(Err(error)), None, _) => Err(malformed(error.to_string())),
        (Err(_), None, _) => Err(malformed("the type's own code panicked")),
    }
}

#[cold]
fn malformed(detail: impl Into<std::borrow::Cow<'static, str>>) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Malformed, detail)
}

/// A reader as generated code calls it. It knows what must come next, and refuses every other call.
struct Input<'a, R> {
    reader: &'a mut R,
    /// What is open, from the outside in: as many as the reader allows levels.
    open: Vec<Open>,
    /// What went wrong first: generated code sees it only in the `thrift` crate's form.
    fault: Option<DecodeError>,
}

enum Open {
    /// A struct, and the type of the value that its last field's header announced.
    Struct { value: Option<TType> },
    /// What is left of a container. The types of a map's keys and values take turns.
    Elements { next: TType, other: TType, left: usize },
}

impl Open {
    fn elements(next: TType, other: TType, left: usize) -> Self {
        Self::Elements { next, other, left }
    }
}

impl<R: ThriftReader> Input<'_, R> {
    /// Takes note that a value of the type is read now.
    fn take(&mut self, ttype: TType) -> thrift::Result<()> {
        match self.open.last_mut() {
            Some(Open::Struct { value }) if *value == Some(ttype) => *value = None,
            Some(Open::Elements { next, other, left: left @ 1.. }) if *next == ttype => {
                *left -= 1;
                std::mem::swap(next, other);
            }
            Some(Open::Struct { value: Some(found) } | Open::Elements { next: found, left: 1.., .. }) => {
                let detail = format!("a value of type {} where {} is declared", found.name(), ttype.name());
                return Err(self.fail(malformed(detail)));
            }
            _ => return Err(self.fail(malformed("the type's own code reads what is not there"))),
        }
        Ok(())
    }

    /// Reads a value of the type, which must come next.
    fn value<V>(
        &mut self,
        ttype: TType,
        read: impl FnOnce(&mut R) -> Result<V, DecodeError>,
    ) -> thrift::Result<V> {
        self.take(ttype)?;
        read(self.reader).map_err(|error| self.fail(error))
    }

    /// A number of elements as generated code wants it.
    fn size(&mut self, count: usize) -> thrift::Result<i32> {
        let limit = || DecodeError::new(DecodeErrorKind::Limit, format!("{count} elements"));
        i32::try_from(count).map_err(|_| self.fail(limit()))
    }

    fn list(&mut self, ttype: TType) -> thrift::Result<(TType, i32)> {
        let (element, count) = self.value(ttype, R::list_begin)?;
        self.open.push(Open::elements(element, element, count));
        Ok((element, self.size(count)?))
    }

    fn container_end(&mut self) -> thrift::Result<()> {
        match self.open.pop() {
            Some(Open::Elements { left: 0, .. }) if !self.open.is_empty() => {
                self.reader.container_end();
                Ok(())
            }
            _ => Err(self.fail(malformed("the type's own code ends a container before its elements do"))),
        }
    }

    /// Keeps the error; returns the same for generated code.
    #[cold]
    fn fail(&mut self, error: DecodeError) -> thrift::Error {
        let kind = match error.kind() {
            DecodeErrorKind::Limit => ProtocolErrorKind::SizeLimit,
            _ => ProtocolErrorKind::InvalidData,
        };
        let message = error.to_string();
        self.fault.get_or_insert(error);
        thrift::Error::Protocol(ProtocolError { kind, message })
    }

    #[cold]
    fn no_message<V>(&mut self) -> thrift::Result<V> {
        Err(self.fail(malformed("the type's own code reads a message where a struct is")))
    }
}

impl<R: ThriftReader> TInputProtocol for Input<'_, R> {
    fn read_message_begin(&mut self) -> thrift::Result<TMessageIdentifier> {
        self.no_message()
    }

    fn read_message_end(&mut self) -> thrift::Result<()> {
        self.no_message()
    }

    fn read_struct_begin(&mut self) -> thrift::Result<Option<TStructIdentifier>> {
        self.value(TType::Struct, R::struct_begin)?;
        self.open.push(Open::Struct { value: None });
        Ok(None)
    }

    fn read_struct_end(&mut self) -> thrift::Result<()> {
        Ok(())
    }

    fn read_field_begin(&mut self) -> thrift::Result<TFieldIdentifier> {
        let Some(Open::Struct { value: None }) = self.open.last() else {
            return Err(self.fail(malformed("the type's own code reads a field where none is")));
        };
        let field = self.reader.field().map_err(|error| self.fail(error))?;
        match field {
            Some(field) => {
                if let Some(Open::Struct { value }) = self.open.last_mut() {
                    *value = Some(field.ttype);
                }
                Ok(TFieldIdentifier { name: None, field_type: theirs(field.ttype), id: Some(field.id) })
            }
            None => {
                // The struct ends here, whether or not generated code says so: when it skips, it does not.
                self.open.pop();
                Ok(TFieldIdentifier { name: None, field_type: theirs(TType::Stop), id: None })
            }
        }
    }

    fn read_field_end(&mut self) -> thrift::Result<()> {
        Ok(())
    }

    fn read_bool(&mut self) -> thrift::Result<bool> {
        self.value(TType::Bool, R::bool)
    }

    fn read_bytes(&mut self) -> thrift::Result<Vec<u8>> {
        self.value(TType::String, R::bytes).map(Into::into)
    }

    fn read_i8(&mut self) -> thrift::Result<i8> {
        self.value(TType::I8, R::i8)
    }

    fn read_i16(&mut self) -> thrift::Result<i16> {
        self.value(TType::I16, R::i16)
    }

    fn read_i32(&mut self) -> thrift::Result<i32> {
        self.value(TType::I32, R::i32)
    }

    fn read_i64(&mut self) -> thrift::Result<i64> {
        self.value(TType::I64, R::i64)
    }

    fn read_double(&mut self) -> thrift::Result<f64> {
        self.value(TType::Double, R::double)
    }

    fn read_uuid(&mut self) -> thrift::Result<uuid::Uuid> {
        self.value(TType::Uuid, R::uuid).map(uuid::Uuid::from_bytes)
    }

    fn read_string(&mut self) -> thrift::Result<String> {
        self.value(TType::String, R::string)
    }

    fn read_list_begin(&mut self) -> thrift::Result<TListIdentifier> {
        let (element, size) = self.list(TType::List)?;
        Ok(TListIdentifier::new(theirs(element), size))
    }

    fn read_list_end(&mut self) -> thrift::Result<()> {
        self.container_end()
    }

    fn read_set_begin(&mut self) -> thrift::Result<TSetIdentifier> {
        let (element, size) = self.list(TType::Set)?;
        Ok(TSetIdentifier::new(theirs(element), size))
    }

    fn read_set_end(&mut self) -> thrift::Result<()> {
        self.container_end()
    }

    fn read_map_begin(&mut self) -> thrift::Result<TMapIdentifier> {
        let (key, value, count) = self.value(TType::Map, R::map_begin)?;
        self.open.push(Open::elements(key, value, count.saturating_mul(2)));
        let size = self.size(count)?;
        Ok(if count == 0 {
            TMapIdentifier::new(None, None, size)
        } else {
            TMapIdentifier::new(theirs(key), theirs(value), size)
        })
    }

    fn read_map_end(&mut self) -> thrift::Result<()> {
        self.container_end()
    }

    fn skip(&mut self, field_type: thrift::protocol::TType) -> thrift::Result<()> {
        match ours(field_type) {
            Some(ttype) => self.value(ttype, |reader| reader.skip(ttype)),
            None => Err(self.fail(malformed("the type's own code skips what is not there"))),
        }
    }

    fn skip_till_depth(&mut self, field_type: thrift::protocol::TType, _: i8) -> thrift::Result<()> {
        self.skip(field_type)
    }

    fn read_byte(&mut self) -> thrift::Result<u8> {
        self.read_i8().map(i8::cast_unsigned)
    }
}
