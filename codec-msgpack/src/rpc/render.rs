use std::fmt;

use crate::read::{Item, item};
use crate::walk::{MAX_DEPTH, value_len};

/// A value in a form for people, much like JSON. It is written until the writer has enough.
pub(super) struct Rendered<'a>(pub(super) &'a [u8]);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok((item, len)) = item(self.0) else { return f.write_str("…") };
        let rest = self.0.get(len..).unwrap_or_default();
        let contents = |len| rest.get(..len).unwrap_or_default();
        match item {
            Item::Nil => f.write_str("nil"),
            Item::Bool(value) => write!(f, "{value}"),
            Item::Uint(value) => write!(f, "{value}"),
            Item::Int(value) => write!(f, "{value}"),
            Item::F32(value) => write!(f, "{value}"),
            Item::F64(value) => write!(f, "{value}"),
            // More than is ever shown.
            Item::Str(len) => write!(f, "{:?}", String::from_utf8_lossy(contents(len.min(1024)))),
            Item::Bin(len) => write!(f, "<{len} bytes>"),
            Item::Ext(kind, len) => write!(f, "<ext {kind}, {len} bytes>"),
            Item::Array(count) => {
                let mut rest = rest;
                f.write_str("[")?;
                for i in 0..count {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    rest = one(rest, f)?;
                }
                f.write_str("]")
            }
            Item::Map(count) => {
                let mut rest = rest;
                f.write_str("{")?;
                for i in 0..count {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    rest = one(rest, f)?;
                    f.write_str(": ")?;
                    rest = one(rest, f)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Writes the value at the front and returns what is behind it.
fn one<'a>(bytes: &'a [u8], f: &mut fmt::Formatter<'_>) -> Result<&'a [u8], fmt::Error> {
    write!(f, "{}", Rendered(bytes))?;
    let len = value_len(bytes, 2 * MAX_DEPTH).map_err(|_| fmt::Error)?;
    Ok(bytes.get(len..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::short;

    #[test]
    fn values_are_shown_like_json() {
        let value = b"\x85\xa1a\x93\x01\xff\xca\x3f\xc0\x00\x00\x02\xc0\xc2\xc3\xa1\"\xc4\x02\x00\x00\xd4\x00\x01\x03\x90";
        assert_eq!(
            short(Rendered(value)),
            "{\"a\": [1, -1, 1.5], 2: nil, false: true, \"\\\"\": <2 bytes>, <ext 0, 1 bytes>: 3}"
        );
    }
}
