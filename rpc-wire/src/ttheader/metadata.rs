//! Metadata as keys of a header, and back. Source: `wire/thrift.md` §14.1.

use bytes::Bytes;
use rpc_core::{Metadata, Name, Scope, Value};

use super::BackwardKeys;
use super::info::InfoWriter;
use super::keys::{BACKWARD, PERSISTENT, TOKEN, TRANSIENT, UPSTREAM, is_own};
use crate::FrameError;

/// Collects the pairs of a header: a key that comes again replaces the one before.
#[derive(Debug)]
pub(super) struct Pairs<'a> {
    header: &'a Bytes,
    pairs: Vec<(Name, Scope, &'a [u8])>,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(header: &'a Bytes) -> Self {
        Self { header, pairs: Vec::new() }
    }

    /// Takes a pair of a request, if it is metadata.
    pub(super) fn request(&mut self, key: &'a [u8], value: &'a [u8]) {
        let (name, scope) = if let Some(name) = key.strip_prefix(PERSISTENT) {
            (name, Scope::Persistent)
        } else if let Some(name) = key.strip_prefix(TRANSIENT) {
            (name.strip_prefix(UPSTREAM).unwrap_or(name), Scope::Transient)
        } else {
            return;
        };
        self.set(self.name(name), scope, value);
    }

    /// Takes the access token of a request.
    pub(super) fn token(&mut self, token: &'a [u8]) {
        self.set(Name::from_static(TOKEN), Scope::Transient, token);
    }

    /// Takes a pair of an answer, if it is metadata.
    pub(super) fn answer(&mut self, key: &'a [u8], value: &'a [u8]) {
        match key.strip_prefix(BACKWARD) {
            Some(name) => self.set(self.name(name), Scope::Transient, value),
            None if is_own(key) => {}
            None => self.set(self.name(key), Scope::Transient, value),
        }
    }

    /// Like the others of the family it drops keys and values that are empty. There are at most
    /// [`MAX_PAIRS`](super::info::MAX_PAIRS).
    fn set(&mut self, name: Name, scope: Scope, value: &'a [u8]) {
        if name.is_empty() || value.is_empty() {
            return;
        }
        match self.pairs.iter_mut().find(|(other, of, _)| *other == name && *of == scope) {
            Some(pair) => pair.2 = value,
            None => self.pairs.push((name, scope, value)),
        }
    }

    fn name(&self, key: &[u8]) -> Name {
        Name::from_bytes(self.header.slice_ref(key))
    }

    /// The metadata; keys and binary values are slices of the header.
    pub(super) fn into_metadata(self) -> Metadata {
        let mut metadata = Metadata::new();
        for (name, scope, value) in self.pairs {
            let value = match str::from_utf8(value) {
                Ok(text) => Value::from(text),
                Err(_) => Value::from(self.header.slice_ref(value)),
            };
            metadata.append(name, value, scope);
        }
        metadata
    }
}

/// Appends the access token of a request, which has a block of its own before all pairs.
pub(super) fn put_token(metadata: &Metadata, info: &mut InfoWriter<'_>) -> Result<(), FrameError> {
    for (_, value, _) in metadata.iter().filter(|(key, _, scope)| is_token(key, *scope)) {
        info.token(bytes(value))?;
    }
    Ok(())
}

/// Appends the pairs of a request.
///
/// # Errors
/// When one has no representation.
pub(super) fn put_request(metadata: &Metadata, info: &mut InfoWriter<'_>) -> Result<(), FrameError> {
    check(metadata, |a, b| a == b)?;
    for (key, value, scope) in metadata.iter().filter(|(key, _, scope)| !is_token(key, *scope)) {
        let prefix = match scope {
            Scope::Persistent => PERSISTENT,
            Scope::Transient if key.as_bytes().starts_with(UPSTREAM) => return Err(own(key)),
            Scope::Transient => TRANSIENT,
        };
        info.text(prefix, key.as_bytes(), bytes(value))?;
    }
    Ok(())
}

/// Appends the metadata of an answer. How far a pair should travel is not told: all go one hop.
///
/// # Errors
/// When a pair has no representation.
pub(super) fn put_answer(
    metadata: &Metadata,
    keys: BackwardKeys,
    info: &mut InfoWriter<'_>,
) -> Result<(), FrameError> {
    check(metadata, |_, _| true)?;
    for (key, value, _) in metadata.iter() {
        let prefix = match keys {
            BackwardKeys::Prefixed => BACKWARD,
            BackwardKeys::Plain if is_own(key.as_bytes()) => return Err(own(key)),
            BackwardKeys::Plain => b"",
        };
        info.text(prefix, key.as_bytes(), bytes(value))?;
    }
    Ok(())
}

/// Refuses what a peer would drop, and two values where it would keep one.
fn check(metadata: &Metadata, share: impl Fn(Scope, Scope) -> bool) -> Result<(), FrameError> {
    for (at, (key, value, scope)) in metadata.iter().enumerate() {
        if key.is_empty() || bytes(value).is_empty() {
            let detail = format!("metadata {key:?}: ttheader has no empty keys and values");
            return Err(FrameError::Unsupported(detail.into()));
        }
        if metadata.iter().take(at).any(|(other, _, of)| other == key && share(of, scope)) {
            let detail = format!("metadata {key:?}: ttheader has one value for a key");
            return Err(FrameError::Unsupported(detail.into()));
        }
    }
    Ok(())
}

#[cold]
fn own(key: &Name) -> FrameError {
    FrameError::Unsupported(format!("metadata {key:?}: the key is ttheader's own").into())
}

fn is_token(key: &Name, scope: Scope) -> bool {
    scope == Scope::Transient && *key == TOKEN
}

fn bytes(value: &Value) -> &[u8] {
    match value {
        Value::Text(text) => text.as_bytes(),
        Value::Binary(bytes) => bytes,
    }
}
