use std::fmt;

use bytes::Bytes;

use super::Name;

/// How far a pair travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// To the next hop.
    #[default]
    Transient,
    /// Along the whole chain of calls: [`CallOptions::following`](crate::CallOptions::following) passes it on.
    Persistent,
}

/// A value: text, or bytes that are no text.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// UTF-8 text.
    Text(String),
    /// Any bytes. Carried only where the wire has a place for them.
    Binary(Bytes),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets: their size is all that is shown.
        match self {
            Self::Text(text) => write!(f, "text of {} bytes", text.len()),
            Self::Binary(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Self {
        Self::Binary(bytes)
    }
}

/// Pairs that travel beside a payload. A call has few, so they are a list that is searched from the front. A key may
/// stand more than once. Keys are looked up without regard to ASCII case and sent as they were written.
///
/// An empty list holds no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    entries: Vec<(Name, Value, Scope)>,
}

impl Metadata {
    /// An empty list.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Sets a pair for the next hop, in place of all others of that key.
    pub fn insert(&mut self, key: impl Into<Name>, value: impl Into<Value>) {
        self.insert_scoped(key, value, Scope::Transient);
    }

    /// Sets a pair, in place of all others of that key.
    pub fn insert_scoped(&mut self, key: impl Into<Name>, value: impl Into<Value>, scope: Scope) {
        let key = key.into();
        self.entries.retain(|(k, _, _)| !same(k, key.as_bytes()));
        self.entries.push((key, value.into(), scope));
    }

    /// Adds a pair beside others of that key.
    pub fn append(&mut self, key: impl Into<Name>, value: impl Into<Value>, scope: Scope) {
        self.entries.push((key.into(), value.into(), scope));
    }

    /// The first value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(k, _, _)| same(k, key.as_bytes())).map(|(_, value, _)| value)
    }

    /// The first value of a key, if it is text.
    pub fn get_text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes all pairs of a key out; says whether there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(k, _, _)| !same(k, key.as_bytes()));
        self.entries.len() < before
    }

    /// All pairs, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Value, Scope)> {
        self.entries.iter().map(|(key, value, scope)| (key, value, *scope))
    }

    /// Adds every pair of the other list.
    pub fn extend(&mut self, other: Metadata) {
        if self.entries.is_empty() {
            self.entries = other.entries
        } else {
            self.entries.extend(other.entries)
        }
    }

    /// The pairs that travel along the whole chain.
    pub fn persistent(&self) -> Metadata {
        let entries = self.entries.iter().filter(|(_, _, scope)| *scope == Scope::Persistent);
        Metadata { entries: entries.cloned().collect() }
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn same(a: &Name, b: &[u8]) -> bool {
    a.as_bytes().eq_ignore_ascii_case(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_replaces_append_adds_and_case_does_not_matter() {
        let mut pairs = Metadata::new();
        pairs.insert("Trace-Id", "a");
        pairs.append("trace-id", "b", Scope::Persistent);
        assert_eq!(pairs.len(), 2);
        assert_eq!(pairs.get_text("TRACE-ID"), Some("a"));
        assert_eq!(pairs.persistent().get_text("trace-id"), Some("b"));
        pairs.insert("trace-ID", "c");
        assert_eq!((pairs.len(), pairs.get_text("trace-id")), (1, Some("c")));
        assert!(pairs.remove("Trace-Id") && pairs.is_empty() && !pairs.remove("Trace-Id"));
    }

    #[test]
    fn values_are_not_shown() {
        let mut pairs = Metadata::new();
        pairs.insert("token", "secret");
        assert!(!format!("{pairs:?}").contains("secret"));
    }
}
