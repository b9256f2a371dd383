//! How the program ends.

use std::fmt;

/// The exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Why it ends with something other than 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A server died, a socket failed, a file could not be written.
    Internal(String),
    /// The command line makes no sense: what, and what to do about it.
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// More errors than allowed, or a wrong, lost or doubled reply.
    Invalid(String),
    /// The machine or the build is not fit.
    Unfit {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// With `--strict`: a flag was raised, or a verdict is inconclusive.
    Strict(String),
    /// A baseline that was asked for is not there.
    NoBaseline {
        /// Which.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Ctrl-C.
    Interrupted,
    /// Standard output was closed by its reader: a quiet end.
    Closed,
}

impl Failure {
    /// A usage error.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    /// Any error that is nobody's fault in particular.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Internal(_) => 1,
            Self::Usage { .. } => 2,
            Self::Invalid(_) => 3,
            Self::Unfit { .. } => 4,
            Self::Strict(_) => 5,
            Self::NoBaseline { .. } => 7,
            Self::Interrupted => INTERRUPTED,
        }
    }

    /// Of two, the one to exit with: the smallest of 1 to 4, then 7, then 5; an interrupt before all.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let rank = |failure: &Self| match failure.code() {
            INTERRUPTED => 0,
            code @ 1..=4 => code,
            7 => 5,
            5 => 6,
            _ => 7,
        };
        if rank(&other) < rank(&self) { other } else { self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internal(what) | Self::Invalid(what) | Self::Strict(what) => write!(f, "error: {what}"),
            Self::Usage { what, hint } | Self::Unfit { what, hint } | Self::NoBaseline { what, hint } => {
                write!(f, "error: {what}\nhint: {hint}")
            }
            Self::Interrupted => f.write_str("error: interrupted"),
            Self::Closed => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_two() {
        let strict = Failure::Strict("flag".into());
        let invalid = Failure::Invalid("lost".into());
        let internal = Failure::Internal("died".into());
        let baseline = Failure::NoBaseline { what: "none".into(), hint: "install".into() };
        assert_eq!(strict.clone().worse(invalid.clone()).code(), 3);
        assert_eq!(invalid.worse(internal).code(), 1);
        assert_eq!(strict.clone().worse(baseline.clone()).code(), 7);
        assert_eq!(baseline.worse(strict.clone()).code(), 7);
        assert_eq!(strict.worse(Failure::Interrupted).code(), 130);
    }

    #[test]
    fn two_lines_for_usage() {
        let text = Failure::usage("unknown codec 'thirft'", "did you mean thrift?").to_string();
        assert_eq!(text, "error: unknown codec 'thirft'\nhint: did you mean thrift?");
    }
}
