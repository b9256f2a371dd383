//! Names that would be equal in Rust.

use super::compile::CompiledFile;

/// Tells names apart, and returns a warning for each that was changed.
pub(super) fn rename(files: &mut [CompiledFile]) -> Vec<String> {
    let _ = files;
    Vec::new()
}

/// The name that a renamed part has in the schema.
pub(super) fn original(name: &str) -> &str {
    name
}
