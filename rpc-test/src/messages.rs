//! What the probe service takes and gives, written by hand for every codec: for Thrift as a compiler would make it of
//! `string echo(1: string text)`, for Protobuf as `message Text { string text = 1; }`, and for serde.

use codec_thrift::{TType, ThriftReader, ThriftStruct, ThriftValue, ThriftWriter};
use rpc_core::{DecodeError, DecodeErrorKind, EncodeError};
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};

/// All arguments of each method.
#[derive(Clone, PartialEq, Deserialize, prost::Message)]
pub struct Text {
    /// The text.
    #[prost(string, tag = "1")]
    pub text: String,
}

/// What each method returns.
#[derive(Clone, PartialEq, Deserialize, prost::Message)]
#[serde(transparent)]
pub struct Answer {
    /// The text.
    #[prost(string, tag = "1")]
    pub text: String,
}

/// A text that Thrift's and serde's codecs fail to write, after they have written a part of the message.
const UNENCODABLE: &str = "\u{0}can not be written\u{0}";

macro_rules! text {
    ($name:ident) => {
        impl $name {
            /// One with this text.
            pub fn new(text: impl Into<String>) -> Self {
                Self { text: text.into() }
            }

            /// One that can not be encoded. Protobuf knows no such value.
            pub fn unencodable() -> Self {
                Self::new(UNENCODABLE)
            }
        }
    };
}
text!(Text);
text!(Answer);

const REFUSED: &str = "a text that refuses to be written";

impl ThriftValue for Text {
    const TTYPE: TType = TType::Struct;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.struct_begin()?;
        self.text.write_field(1, writer)?;
        if self.text == UNENCODABLE {
            return Err(EncodeError::new(REFUSED));
        }
        writer.struct_end();
        Ok(())
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        let mut text = None;
        reader.struct_begin()?;
        while let Some(field) = reader.field()? {
            match (field.id, field.ttype) {
                (1, TType::String) => text = Some(reader.string().map_err(|error| error.within("text"))?),
                (_, ttype) => reader.skip(ttype)?,
            }
        }
        let missing = || DecodeError::new(DecodeErrorKind::Missing, "there is no text").within("text");
        Ok(Self { text: text.ok_or_else(missing)? })
    }
}

impl ThriftStruct for Text {}

impl ThriftValue for Answer {
    const TTYPE: TType = TType::String;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.bytes(self.text.as_bytes())?;
        if self.text == UNENCODABLE { Err(EncodeError::new(REFUSED)) } else { Ok(()) }
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.string().map(Self::new)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Text", 1)?;
        fields.serialize_field("text", &self.text)?;
        if self.text == UNENCODABLE { Err(S::Error::custom(REFUSED)) } else { fields.end() }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.text == UNENCODABLE {
            Err(S::Error::custom(REFUSED))
        } else {
            serializer.serialize_str(&self.text)
        }
    }
}

/// Echoed texts are compared by what they hold.
impl From<Text> for Answer {
    fn from(text: Text) -> Self {
        Self { text: text.text }
    }
}
