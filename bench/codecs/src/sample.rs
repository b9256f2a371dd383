//! What the message holds.

/// A part, before it takes the form of a codec.
pub(crate) struct Part {
    pub(crate) id: i64,
    pub(crate) value: String,
}

/// The five parts of the map, of 1 KiB each, with their keys.
pub(crate) fn by_name() -> Vec<(String, Part)> {
    (0..5).map(|i| (format!("key-{i}"), Part { id: i, value: text(1024, i) })).collect()
}

/// The hundred small parts of the list.
pub(crate) fn parts() -> Vec<Part> {
    (0..100).map(|i| Part { id: i, value: text(20, i) }).collect()
}

/// The parts of a group.
pub(crate) fn group_parts() -> Vec<Part> {
    (0..5).map(|i| Part { id: -i, value: text(32, i) }).collect()
}

/// The text beside the parts.
pub(crate) fn msg() -> String {
    text(1024, 42)
}

/// Printable text of this length.
pub(crate) fn text(length: usize, seed: i64) -> String {
    (0..length as i64).map(|i| char::from(b'a' + ((i * 7 + seed) % 26) as u8)).collect()
}
