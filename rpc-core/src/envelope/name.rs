use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};

use bytes::Bytes;

/// The name of a service or a method as it stands on the wire. Names are compared byte by byte; they are UTF-8 by
/// custom, not by rule. Cloning costs no allocation: a name from a service definition is static, one from a peer is
/// a slice of the frame that it came in.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Bytes);

impl Name {
    /// A name that is known when compiling.
    pub const fn from_static(name: &'static str) -> Self {
        Self(Bytes::from_static(name.as_bytes()))
    }

    /// A name as a peer wrote it.
    pub const fn from_bytes(name: Bytes) -> Self {
        Self(name)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A part of the name, without a copy.
    ///
    /// # Panics
    /// When the range is not within the name.
    pub fn slice(&self, range: impl std::ops::RangeBounds<usize>) -> Self {
        Self(self.0.slice(range))
    }

    /// The bytes, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// The text; what is not UTF-8 is replaced, for people's eyes only.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Whether the name has no bytes: the wire did not say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self::from_static(name)
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self(Bytes::from(name))
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state); // as `[u8]`, so that `Borrow<[u8]>` may look names up
    }
}

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A peer's name may be long or hold control characters; a log line must stand neither.
        let text = self.to_str();
        for c in text.chars().take(SHOWN) {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        if text.chars().nth(SHOWN).is_some() { f.write_str("…") } else { Ok(()) }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Characters of a name that are shown.
const SHOWN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unprintable_names_are_shown_short_and_escaped() {
        assert_eq!(Name::from_static("say\nhello").to_string(), "say\\nhello");
        let long = Name::from("x".repeat(70_000));
        assert_eq!(long.to_string().chars().count(), SHOWN + 1);
        assert_eq!(long.len(), 70_000);
    }
}
