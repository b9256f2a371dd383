use rpc_core::{DecodeError, DecodeErrorKind, EncodeError, Never};

use crate::{FieldHeader, TType, ThriftReader, ThriftValue, ThriftWriter};

/// The declared exceptions of one method: a generated enum with a variant for each.
pub trait ThriftException: Sized {
    /// Appends the exception as the field of the result that its definition says.
    ///
    /// # Errors
    /// As [`ThriftValue::write`].
    fn write_field<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError>;

    /// Reads a field of the result, if it is one of these exceptions; else reads nothing.
    ///
    /// # Errors
    /// As [`ThriftValue::read`].
    fn read_field<R: ThriftReader>(field: FieldHeader, reader: &mut R) -> Result<Option<Self>, DecodeError>;
}

impl ThriftException for Never {
    fn write_field<W: ThriftWriter>(&self, _: &mut W) -> Result<(), EncodeError> {
        match *self {}
    }

    fn read_field<R: ThriftReader>(_: FieldHeader, _: &mut R) -> Result<Option<Self>, DecodeError> {
        Ok(None)
    }
}

/// The result of a method: the response is its field 0, an exception the field that its definition says.
pub trait ThriftOutcome: Sized {
    /// Appends the result struct.
    ///
    /// # Errors
    /// As [`ThriftValue::write`].
    fn write_outcome<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError>;

    /// Reads the result struct.
    ///
    /// # Errors
    /// As [`ThriftValue::read`], and [`DecodeErrorKind::MissingResult`] when it holds nothing though the method returns
    /// something.
    fn read_outcome<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError>;
}

/// The id of the response in a result.
pub(crate) const RESPONSE: i16 = 0;

impl<T: ThriftValue, E: ThriftException> ThriftOutcome for Result<T, E> {
    fn write_outcome<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        write(self.as_ref(), writer, |response, writer| response.write_field(RESPONSE, writer))
    }

    fn read_outcome<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        read(reader, T::TTYPE, T::read)
    }
}

/// Appends the result struct; `field` appends the field of a response.
pub(crate) fn write<T, E: ThriftException, W: ThriftWriter>(
    outcome: Result<&T, &E>,
    writer: &mut W,
    field: impl FnOnce(&T, &mut W) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    writer.struct_begin()?;
    match outcome {
        Ok(response) => field(response, writer)?,
        Err(exception) => exception.write_field(writer)?,
    }
    writer.struct_end();
    Ok(())
}

/// Reads the result struct; `value` reads a response, whose type is `response`.
pub(crate) fn read<T, E: ThriftException, R: ThriftReader>(
    reader: &mut R,
    response: TType,
    value: impl Fn(&mut R) -> Result<T, DecodeError>,
) -> Result<Result<T, E>, DecodeError> {
    let mut outcome = None;
    reader.struct_begin()?;
    while let Some(field) = reader.field()? {
        if field.id == RESPONSE && field.ttype == response {
            outcome = Some(Ok(value(reader).map_err(|error| error.within("result"))?));
        } else if let Some(exception) = E::read_field(field, reader)? {
            outcome = Some(Err(exception));
        } else {
            reader.skip(field.ttype)?;
        }
    }
    match outcome {
        Some(outcome) => Ok(outcome),
        // A method that returns nothing says so by an empty result.
        None if response == TType::Stop => value(reader).map(Ok),
        None => Err(DecodeError::new(
            DecodeErrorKind::MissingResult,
            "missing result: neither a response nor a declared exception",
        )),
    }
}
