//! What serde's visitors are handed: the parts of a container, a variant, an ext value.

use std::slice;

use serde::de::value::BorrowedBytesDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::{Deserializer, Error, Shape};
use crate::read::{Item, item};

/// The elements of an array, or the pairs of a map.
pub(super) struct Elements<'a, 'de> {
    pub(super) de: &'a mut Deserializer<'de>,
    pub(super) left: usize,
    /// In an array the names of the fields that are still to come, in a map of all of them.
    pub(super) names: slice::Iter<'static, &'static str>,
    /// In a map, the field whose key was read.
    pub(super) name: Option<&'static str>,
}

/// Says in which field an error was found.
fn within(name: Option<&'static str>, error: Error) -> Error {
    match name {
        Some(name) => Error(error.0.within(name)),
        None => error,
    }
}

impl<'de> de::SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let name = self.names.next().copied();
        seed.deserialize(&mut *self.de).map(Some).map_err(|error| within(name, error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::MapAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let before = self.de.rest;
        let key = seed.deserialize(&mut *self.de)?;
        self.name = match item(before) {
            Ok((Item::Str(len), at)) => {
                let key = before.get(at..).and_then(|rest| rest.get(..len));
                self.names.as_slice().iter().copied().find(|name| Some(name.as_bytes()) == key)
            }
            _ => None,
        };
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let name = self.name.take();
        seed.deserialize(&mut *self.de).map_err(|error| within(name, error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A variant: its name, and in a map of one pair what it holds.
pub(super) struct Variant<'a, 'de> {
    pub(super) de: &'a mut Deserializer<'de>,
    pub(super) has_value: bool,
}

impl<'de> Variant<'_, 'de> {
    fn value(&mut self) -> Result<&mut Deserializer<'de>, Error> {
        if self.has_value { Ok(self.de) } else { Err(de::Error::custom("the variant lacks its value")) }
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        Ok((seed.deserialize(&mut *self.de)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        // What a newer peer put into it is left out.
        Ok(self.de.skip(usize::from(self.has_value))?)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(mut self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.value()?.visit(Shape::Fields(&[]), visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value()?.visit(Shape::Fields(fields), visitor)
    }
}

/// A value of an application's own type, as the pair in which serde takes it.
pub(super) struct ExtParts<'de> {
    pub(super) kind: Option<i8>,
    pub(super) bytes: Option<&'de [u8]>,
}

impl<'de> de::SeqAccess<'de> for ExtParts<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if let Some(kind) = self.kind.take() {
            return seed.deserialize(kind.into_deserializer()).map(Some);
        }
        self.bytes.take().map(|bytes| seed.deserialize(BorrowedBytesDeserializer::new(bytes))).transpose()
    }
}
