use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};
use rpc_core::{DecodeError, DecodeErrorKind, EncodeError};

use crate::source::unknown_type;
use crate::{FieldHeader, TType, ThriftReader, ThriftWriter, binary};

/// Fields that a definition does not know, kept to be written again: what a service that is older than its callers received, or a
/// proxy. Generated types have them where the build asked for it.
///
/// They are held as the binary protocol writes them, whichever they came in, and can be written in either. A field takes at most
/// eight times the bytes that it came in, and no memory is taken ahead. Their order is that of the wire; they are equal if they
/// came in the same order.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownFields(BytesMut);

impl UnknownFields {
    /// Reads the value of a field whose header was read, and keeps both.
    ///
    /// # Errors
    /// As [`ThriftReader::skip`], which checks the same. What was kept is of no use then.
    pub fn keep<R: ThriftReader>(&mut self, field: FieldHeader, reader: &mut R) -> Result<(), DecodeError> {
        copy_field(field, reader, &mut binary::Writer::new(&mut self.0)).map_err(|error| match error {
            Fault::Read(error) => error,
            Fault::Write(error) => DecodeError::new(DecodeErrorKind::Limit, error.to_string()),
        })
    }

    /// Appends all fields to a struct that has begun.
    ///
    /// # Errors
    /// When they are nested too deep where they stand now.
    pub fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        if self.is_empty() {
            return Ok(());
        }
        let mut reader = self.reader();
        loop {
            match reader.field() {
                Ok(Some(field)) => copy_field(field, &mut reader, writer).map_err(Fault::of_writing)?,
                Ok(None) => return Ok(()),
                Err(error) => return Err(Fault::Read(error).of_writing()),
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Their ids, in the order of the wire.
    pub fn ids(&self) -> impl Iterator<Item = i16> {
        let mut reader = self.reader();
        std::iter::from_fn(move || {
            let field = reader.field().ok()??;
            reader.skip(field.ttype).ok()?;
            Some(field.id)
        })
    }

    /// What is held, as a struct that has begun.
    fn reader(&self) -> binary::Reader {
        let mut fields = BytesMut::with_capacity(self.0.len() + 1);
        fields.put_slice(&self.0);
        fields.put_u8(TType::Stop.number());
        binary::Reader::new(Bytes::from(fields))
    }
}

impl fmt::Debug for UnknownFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.ids()).finish()
    }
}

/// Which side of a copy failed.
enum Fault {
    Read(DecodeError),
    Write(EncodeError),
}

impl Fault {
    fn of_writing(self) -> EncodeError {
        match self {
            Self::Read(error) => EncodeError::new(error.to_string()),
            Self::Write(error) => error,
        }
    }
}

impl From<DecodeError> for Fault {
    fn from(error: DecodeError) -> Self {
        Self::Read(error)
    }
}

impl From<EncodeError> for Fault {
    fn from(error: EncodeError) -> Self {
        Self::Write(error)
    }
}

fn copy_field<R: ThriftReader, W: ThriftWriter>(
    field: FieldHeader,
    reader: &mut R,
    writer: &mut W,
) -> Result<(), Fault> {
    if field.ttype == TType::Bool {
        writer.field_bool(field.id, reader.bool()?);
        return Ok(());
    }
    writer.field(field.ttype, field.id);
    copy(field.ttype, reader, writer)
}

/// Copies a value from one protocol into another. It goes as deep as the reader allows.
fn copy<R: ThriftReader, W: ThriftWriter>(ttype: TType, reader: &mut R, writer: &mut W) -> Result<(), Fault> {
    match ttype {
        TType::Stop => return Err(unknown_type(ttype.number()).into()),
        TType::Bool => writer.bool(reader.bool()?),
        TType::I8 => writer.i8(reader.i8()?),
        TType::I16 => writer.i16(reader.i16()?),
        TType::I32 => writer.i32(reader.i32()?),
        TType::I64 => writer.i64(reader.i64()?),
        TType::Double => writer.double(reader.double()?),
        TType::String => writer.bytes(&reader.bytes()?)?,
        TType::Uuid => writer.uuid(&reader.uuid()?),
        TType::Struct => {
            reader.struct_begin()?;
            writer.struct_begin()?;
            while let Some(field) = reader.field()? {
                copy_field(field, reader, writer)?;
            }
            writer.struct_end();
        }
        TType::List | TType::Set => {
            let (element, count) = reader.list_begin()?;
            writer.list_begin(element, count)?;
            for _ in 0..count {
                copy(element, reader, writer)?;
            }
            reader.container_end();
            writer.container_end();
        }
        TType::Map => {
            let (key, value, count) = reader.map_begin()?;
            writer.map_begin(key, value, count)?;
            for _ in 0..count {
                copy(key, reader, writer)?;
                copy(value, reader, writer)?;
            }
            reader.container_end();
            writer.container_end();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact;

    /// The fields of a struct, all unknown, and the struct that is written of them in both protocols.
    fn kept<R: ThriftReader>(mut reader: R) -> Result<(UnknownFields, [BytesMut; 2]), DecodeError> {
        let mut fields = UnknownFields::default();
        reader.struct_begin()?;
        while let Some(field) = reader.field()? {
            fields.keep(field, &mut reader)?;
        }
        let mut written = [BytesMut::new(), BytesMut::new()];
        let [binary, compact] = &mut written;
        let mut writer = binary::Writer::new(binary);
        writer.struct_begin().unwrap();
        fields.write(&mut writer).unwrap();
        writer.struct_end();
        let mut writer = compact::Writer::new(compact);
        writer.struct_begin().unwrap();
        fields.write(&mut writer).unwrap();
        writer.struct_end();
        Ok((fields, written))
    }

    /// 1: true, 2: 1.5, 3: {7: [false, true]}, 20: -3 as an i64, 21: an empty map, 1 again: "é" cut short.
    const BINARY: &[u8] =
        b"\x02\0\x01\x01\x04\0\x02\x3f\xf8\0\0\0\0\0\0\x0c\0\x03\x0f\0\x07\x02\0\0\0\x02\0\x01\0\
        \x0a\0\x14\xff\xff\xff\xff\xff\xff\xff\xfd\x0d\0\x15\0\0\0\0\0\0\x0b\0\x01\0\0\0\x01\xc3\0";
    const COMPACT: &[u8] =
        b"\x11\x17\0\0\0\0\0\0\xf8\x3f\x1c\x79\x21\x02\x01\0\x06\x28\x05\x1b\0\x08\x02\x01\xc3\0";

    #[test]
    fn fields_of_either_protocol_are_written_in_both() {
        let (from_binary, written) = kept(binary::Reader::new(Bytes::from_static(BINARY))).unwrap();
        assert_eq!(written.map(|bytes| bytes.to_vec()), [BINARY.to_vec(), COMPACT.to_vec()]);
        let (from_compact, written) = kept(compact::Reader::new(Bytes::from_static(COMPACT))).unwrap();
        assert_eq!(written.map(|bytes| bytes.to_vec()), [BINARY.to_vec(), COMPACT.to_vec()]);
        assert_eq!(from_binary, from_compact);
        assert_eq!(format!("{from_binary:?}"), "{1, 2, 3, 20, 21, 1}");
        let mut none = from_binary;
        none.clear();
        assert!(none.is_empty() && none == UnknownFields::default() && none.ids().count() == 0);
    }

    #[test]
    fn what_is_kept_is_checked_as_what_is_left_out() {
        for end in 0..BINARY.len() {
            assert!(kept(binary::Reader::new(Bytes::from_static(&BINARY[..end]))).is_err(), "{end}");
        }
        for end in 0..COMPACT.len() {
            assert!(kept(compact::Reader::new(Bytes::from_static(&COMPACT[..end]))).is_err(), "{end}");
        }
        // two billion elements in three bytes
        let claim = b"\x0f\0\x01\x08\x7f\xff\xff\xff\0\0\0";
        let error = kept(binary::Reader::new(Bytes::from_static(claim))).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::Limit);
        // the struct is one level, and each list another
        for (levels, fits) in [(63, true), (64, false), (10_000, false)] {
            let lists = [&[0x19][..], &[0x19].repeat(levels - 1), &[0x03, 0]].concat();
            let found = kept(compact::Reader::new(Bytes::from(lists)));
            assert_eq!(
                found.map(drop).map_err(|error| error.kind()),
                if fits { Ok(()) } else { Err(DecodeErrorKind::Limit) }
            );
        }
    }

    #[test]
    fn fields_may_be_too_deep_where_they_stand_later() {
        let lists = [&[0x19][..], &[0x19].repeat(62), &[0x03, 0]].concat();
        let (fields, _) = kept(compact::Reader::new(Bytes::from(lists))).unwrap();
        let mut dst = BytesMut::new();
        let mut writer = compact::Writer::new(&mut dst);
        writer.struct_begin().unwrap();
        writer.field(TType::Struct, 1);
        writer.struct_begin().unwrap();
        assert!(fields.write(&mut writer).is_err());
    }
}
