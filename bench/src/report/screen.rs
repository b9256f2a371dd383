//! Standard output, whose reader may leave at any time.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::cli::settings::Color;
use crate::exit::Failure;
use crate::stats::verdict::Verdict;

/// Prints one line.
///
/// # Errors
///
/// [`Failure::Closed`] when nobody reads any more.
pub fn say(line: impl AsRef<str>) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", line.as_ref()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(error) => Err(Failure::internal(format!("standard output: {error}"))),
    }
}

/// Prints lines.
///
/// # Errors
///
/// As [`say`].
pub fn say_all(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), Failure> {
    lines.into_iter().try_for_each(say)
}

/// Whether to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// As asked for, as the terminal allows and as `NO_COLOR` forbids.
    pub fn new(color: Color) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal(),
        };
        Self { on }
    }

    /// A verdict in its colour.
    pub fn verdict(self, verdict: Verdict) -> String {
        let code = match verdict {
            _ if !self.on => return verdict.to_string(),
            Verdict::Win => 32,
            Verdict::Loss => 31,
            Verdict::Tie | Verdict::Inconclusive => 33,
            Verdict::None => return verdict.to_string(),
        };
        format!("\u{1b}[{code}m{verdict}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_when_told() {
        assert_eq!(Paint::new(Color::Always).verdict(Verdict::Win), "\u{1b}[32mwin\u{1b}[0m");
        assert_eq!(Paint::new(Color::Never).verdict(Verdict::Win), "win");
    }
}
