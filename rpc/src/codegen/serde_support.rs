//! What the serde impls of generated types share, so that generated code stays small.
//!
//! Written are, by `serialize_struct`: structs as all their fields in the order of declaration, nil for an absent one.
//! A format makes an array or a map by name of that. Unions are maps of one pair.
//!
//! Read are: sequences in the order of declaration (missing trailing fields take their defaults, surplus elements are
//! left out), maps by name, and maps by id. Nil is the same as absent. Of a field that comes more than once the last
//! value counts.
//!
//! The formats have to describe themselves: MessagePack and JSON do.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// A field of a generated type.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the definition.
    pub name: &'static str,
    /// Its id, or tag; 0 if it has none.
    pub id: i32,
    /// Whether it may not be missing.
    pub required: bool,
}

impl Field {
    /// A field that keeps its default if there is no value for it.
    pub const fn plain(name: &'static str, id: i32) -> Self {
        Self { name, id, required: false }
    }

    /// A field that may not be missing.
    pub const fn required(name: &'static str, id: i32) -> Self {
        Self { name, id, required: true }
    }
}

/// A generated struct, while it is read: it begins as its default.
pub trait SerdeStruct: Default {
    /// Its name in the definition.
    const NAME: &'static str;
    /// Its fields, in the order of declaration.
    const FIELDS: &'static [Field];
    /// Their names.
    const NAMES: &'static [&'static str];

    /// Reads the field at a position in [`Self::FIELDS`]; false if the source holds nothing for it.
    ///
    /// # Errors
    /// Those of the source.
    fn set<'de, S: Source<'de>>(&mut self, index: usize, source: S) -> Result<bool, S::Error>;
}

/// A generated union or oneof, or the exceptions that a method declares.
pub trait SerdeUnion: Sized {
    /// Its name in the definition.
    const NAME: &'static str;
    /// Its fields, in the order of declaration.
    const FIELDS: &'static [Field];

    /// Reads the field at a position in [`Self::FIELDS`]; `None` if the source holds nothing for it.
    ///
    /// # Errors
    /// Those of the source.
    fn read<'de, S: Source<'de>>(index: usize, source: S) -> Result<Option<Self>, S::Error>;

    /// What stands for a field that the definition does not know; its id is 0 if it came by name. `None` if there is
    /// nothing to stand for it.
    fn unknown(id: i32) -> Option<Self>;
}

/// Where the value of one field comes from.
pub trait Source<'de>: Sized {
    /// The format's error.
    type Error: serde::de::Error;

    /// The value; `None` if it is nil or if there is no more.
    ///
    /// # Errors
    /// When it is not of the type.
    fn next<T: Deserialize<'de>>(self) -> Result<Option<T>, Self::Error>;

    /// Puts the value into its place, and says whether there was one.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    fn fill<T: Deserialize<'de>>(self, place: &mut T) -> Result<bool, Self::Error> {
        Ok(self.next()?.map(|value| *place = value).is_some())
    }

    /// The same for a oneof, which is absent too if the definition does not know what it holds.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    fn fill_oneof<T: SerdeUnion>(self, place: &mut Option<T>) -> Result<bool, Self::Error> {
        *place = self.next::<Oneof<T>>()?.and_then(|oneof| oneof.0);
        Ok(place.is_some())
    }

    /// The same for a field that may be absent.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    fn fill_some<T: Deserialize<'de>>(self, place: &mut Option<T>) -> Result<bool, Self::Error> {
        Ok(self.next()?.map(|value| *place = Some(value)).is_some())
    }
}

/// Reads a struct in any of its forms.
///
/// # Errors
/// When a field is not of its type, or a required one is missing.
pub fn deserialize_struct<'de, T: SerdeStruct, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_struct(T::NAME, T::NAMES, StructVisitor(PhantomData))
}

/// Reads a union: a map of one pair.
///
/// # Errors
/// When it has no pair or several known ones, or the value is not of its type.
pub fn deserialize_union<'de, T: SerdeUnion, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let union = deserializer.deserialize_map(UnionVisitor(PhantomData))?;
    union.ok_or_else(|| {
        D::Error::custom(format_args!("no field of union `{}` is set, or none that is known", T::NAME))
    })
}

/// The error of a union that holds no field of its definition.
pub fn no_known_field<E: serde::ser::Error>(union: &'static str) -> E {
    E::custom(format_args!("union `{union}` has no field that its definition knows"))
}

struct StructVisitor<T>(PhantomData<T>);

impl<'de, T: SerdeStruct> Visitor<'de> for StructVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct `{}` as an array or a map", T::NAME)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        let mut value = T::default();
        let mut ended = false;
        for (index, field) in T::FIELDS.iter().enumerate() {
            let found = !ended && value.set(index, SeqSource { seq: &mut seq, ended: &mut ended })?;
            if field.required && !found {
                return Err(missing::<T, _>(field));
            }
        }
        while !ended {
            ended = seq.next_element::<IgnoredAny>()?.is_none();
        }
        Ok(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut value = T::default();
        let mut found = Found::default();
        let mut next = 0;
        while let Some(key) = map.next_key_seed(KeySeed { fields: T::FIELDS, guess: next })? {
            let Key::Known(index) = key else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if value.set(index, MapSource(&mut map))? {
                found.add(index);
            }
            next = index + 1;
        }
        match T::FIELDS.iter().enumerate().find(|(index, field)| field.required && !found.has(*index)) {
            Some((_, field)) => Err(missing::<T, _>(field)),
            None => Ok(value),
        }
    }
}

#[cold]
fn missing<T: SerdeStruct, E: serde::de::Error>(field: &Field) -> E {
    E::custom(format_args!("missing required field `{}.{}`", T::NAME, field.name))
}

/// Which fields were read: a bit each, in words that are only there for structs of many fields.
#[derive(Default)]
struct Found {
    first: u64,
    more: Vec<u64>,
}

impl Found {
    fn add(&mut self, index: usize) {
        let (word, bit) = (index / 64, 1 << (index % 64));
        if word == 0 {
            self.first |= bit;
            return;
        }
        if self.more.len() < word {
            self.more.resize(word, 0);
        }
        if let Some(word) = self.more.get_mut(word - 1) {
            *word |= bit;
        }
    }

    fn has(&self, index: usize) -> bool {
        let bit = 1 << (index % 64);
        match (index / 64).checked_sub(1) {
            None => self.first & bit != 0,
            Some(word) => self.more.get(word).is_some_and(|word| word & bit != 0),
        }
    }
}

struct UnionVisitor<T>(PhantomData<T>);

/// What is known of it; `None` if nothing is.
impl<'de, T: SerdeUnion> Visitor<'de> for UnionVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` as a map of one field", T::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let (mut value, mut unknown) = (None, None);
        while let Some(key) = map.next_key_seed(KeySeed { fields: T::FIELDS, guess: 0 })? {
            match key {
                Key::Known(index) => {
                    let read = T::read(index, MapSource(&mut map))?;
                    if read.is_some() && value.is_some() {
                        return Err(A::Error::custom(format_args!(
                            "more than one field of union `{}` is set",
                            T::NAME
                        )));
                    }
                    value = read.or(value);
                }
                Key::Unknown(id) => {
                    map.next_value::<IgnoredAny>()?;
                    unknown = Some(id);
                }
            }
        }
        Ok(value.or_else(|| unknown.and_then(T::unknown)))
    }
}

/// A oneof that is known, or not.
struct Oneof<T>(Option<T>);

impl<'de, T: SerdeUnion> Deserialize<'de> for Oneof<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UnionVisitor(PhantomData)).map(Self)
    }
}

struct SeqSource<'a, A> {
    seq: &'a mut A,
    ended: &'a mut bool,
}

impl<'de, A: SeqAccess<'de>> Source<'de> for SeqSource<'_, A> {
    type Error = A::Error;

    fn next<T: Deserialize<'de>>(self) -> Result<Option<T>, A::Error> {
        let element = self.seq.next_element::<Option<T>>()?;
        *self.ended = element.is_none();
        Ok(element.flatten())
    }
}

struct MapSource<'a, A>(&'a mut A);

impl<'de, A: MapAccess<'de>> Source<'de> for MapSource<'_, A> {
    type Error = A::Error;

    fn next<T: Deserialize<'de>>(self) -> Result<Option<T>, A::Error> {
        self.0.next_value()
    }
}

/// The key of a pair.
enum Key {
    /// The position of the field.
    Known(usize),
    /// The id that is not known, 0 for a name.
    Unknown(i32),
}

/// Reads a key, and tries the field at `guess` first: most writers keep the order.
#[derive(Clone, Copy)]
struct KeySeed {
    fields: &'static [Field],
    guess: usize,
}

impl KeySeed {
    fn find(self, matches: impl Fn(&Field) -> bool) -> Option<Key> {
        if self.fields.get(self.guess).is_some_and(&matches) {
            return Some(Key::Known(self.guess));
        }
        self.fields.iter().position(matches).map(Key::Known)
    }

    fn named(self, name: &[u8]) -> Key {
        self.find(|field| field.name.as_bytes() == name).unwrap_or(Key::Unknown(0))
    }
}

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name or id")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(self.named(name.as_bytes()))
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Key, E> {
        Ok(self.named(name))
    }

    fn visit_i64<E: serde::de::Error>(self, id: i64) -> Result<Key, E> {
        let id = i32::try_from(id).unwrap_or(0);
        Ok(self.find(|field| field.id == id && id != 0).unwrap_or(Key::Unknown(id)))
    }

    fn visit_u64<E: serde::de::Error>(self, id: u64) -> Result<Key, E> {
        self.visit_i64(i64::try_from(id).unwrap_or(0))
    }
}
