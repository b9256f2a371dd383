//! Bytes that are written down for people and for tests alike: two hex digits a byte, with a comment behind `#` on each line.

/// The bytes of a text.
///
/// # Panics
/// When the text is not of that form.
pub fn bytes(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines.flat_map(str::split_whitespace).map(byte).collect()
}

fn byte(digits: &str) -> u8 {
    match u8::from_str_radix(digits, 16) {
        Ok(byte) if digits.len() == 2 => byte,
        _ => panic!("{digits:?} is not two hex digits"),
    }
}

/// The bytes as text, to compare with: on failure the two texts can be laid side by side.
pub fn text(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    bytes.chunks(16).map(line).collect::<Vec<_>>().join("\n")
}

/// Compares bytes with written ones.
///
/// # Panics
/// When they differ.
pub fn assert_bytes(found: &[u8], written: &str) {
    assert_eq!(text(found), text(&bytes(written)), "left: found, right: written");
}
