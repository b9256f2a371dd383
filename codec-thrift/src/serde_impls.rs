//! serde impls of the types of fields that std has no type for. Generated types have their own.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{Double, Uuid};

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Double {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self)
    }
}

/// Its 16 bytes as binary; in formats for people, its text.
impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Uuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(UuidVisitor)
        } else {
            deserializer.deserialize_bytes(UuidVisitor)
        }
    }
}

struct UuidVisitor;

impl Visitor<'_> for UuidVisitor {
    type Value = Uuid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a UUID, as 16 bytes or as its text")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Uuid, E> {
        match <[u8; 16]>::try_from(bytes) {
            Ok(bytes) => Ok(Uuid(bytes)),
            Err(_) => Err(E::invalid_length(bytes.len(), &self)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Uuid, E> {
        match text.parse() {
            Ok(uuid) => Ok(uuid),
            // a peer of the old dialect has no binary
            Err(_) => self.visit_bytes(text.as_bytes()),
        }
    }
}
