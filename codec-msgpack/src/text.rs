//! Texts of errors, which may quote what a peer sent and so must have an end.

use std::fmt::{self, Write as _};

/// Bytes of a text that are kept.
const LIMIT: usize = 300;

/// The text of something, cut off where it becomes long.
pub(crate) fn short(value: impl fmt::Display) -> String {
    let mut text = Short(String::new());
    // It fails where the text is cut off, so that the rest is not even formatted.
    let _ = write!(text, "{value}");
    text.0
}

struct Short(String);

impl fmt::Write for Short {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let room = LIMIT.saturating_sub(self.0.len());
        if piece.len() <= room {
            self.0.push_str(piece);
            return Ok(());
        }
        let end = piece.floor_char_boundary(room);
        self.0.push_str(piece.get(..end).unwrap_or_default());
        self.0.push('…');
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(short("as it is"), "as it is");
        let long = short("ß".repeat(1_000_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (151, true));
    }
}
