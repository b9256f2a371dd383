use std::fmt;
use std::str::FromStr;

use rpc_core::{DecodeError, EncodeError};

use crate::{TType, ThriftReader, ThriftValue, ThriftWriter};

/// A UUID: 16 bytes in network order. `From` and `Into` with `[u8; 16]` connect it to other crates' types.
///
/// ```
/// use codec_thrift::Uuid;
///
/// let id: Uuid = "00112233-4455-6677-8899-aabbccddeeff".parse()?;
/// assert_eq!(<[u8; 16]>::from(id)[15], 0xff);
/// assert_eq!(id.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
/// # Ok::<(), codec_thrift::UuidError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

/// The text is not the hexadecimal form of a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UuidError(());

/// Before which bytes the text form has a dash.
const DASHES: [usize; 4] = [4, 6, 8, 10];

impl From<[u8; 16]> for Uuid {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl From<Uuid> for [u8; 16] {
    fn from(uuid: Uuid) -> Self {
        uuid.0
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if DASHES.contains(&i) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Reads the form that [`Display`](fmt::Display) writes, in either case, with all dashes or with none.
impl FromStr for Uuid {
    type Err = UuidError;

    fn from_str(text: &str) -> Result<Self, UuidError> {
        let dashed = text.len() == 36;
        let mut digits = text.chars();
        let mut bytes = [0; 16];
        for (i, byte) in bytes.iter_mut().enumerate() {
            if dashed && DASHES.contains(&i) && digits.next() != Some('-') {
                return Err(UuidError(()));
            }
            for _ in 0..2 {
                let digit = digits.next().and_then(|c| c.to_digit(16));
                let digit = digit.and_then(|digit| u8::try_from(digit).ok()).ok_or(UuidError(()))?;
                *byte = *byte << 4 | digit;
            }
        }
        if digits.next().is_some() { Err(UuidError(())) } else { Ok(Self(bytes)) }
    }
}

impl fmt::Display for UuidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a UUID")
    }
}

impl std::error::Error for UuidError {}

impl ThriftValue for Uuid {
    const TTYPE: TType = TType::Uuid;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.uuid(&self.0);
        Ok(())
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.uuid().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_none() {
        for text in [
            "",
            "00112233",
            "00112233-4455-6677-8899-aabbccddeefg",
            "001122334-455-6677-8899-aabbccddeeff",
            "00112233445566778899aabbccddeeff0",
            "+0112233445566778899aabbccddeeff",
        ] {
            assert_eq!(text.parse::<Uuid>(), Err(UuidError(())), "{text}");
        }
        assert!("00112233445566778899AABBCCDDEEFF".parse::<Uuid>().is_ok());
    }
}
