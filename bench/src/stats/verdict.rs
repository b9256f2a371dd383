//! Win, tie, loss or inconclusive.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::interval::Interval;

/// Which direction is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Throughput.
    Higher,
    /// Latency and cost.
    Lower,
}

/// What a ratio to the baseline says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies on the good side of the noise band.
    Win,
    /// The whole interval lies inside the noise band.
    Tie,
    /// The whole interval lies on the bad side of the noise band.
    Loss,
    /// None of these; more rounds may settle it.
    Inconclusive,
    /// No interval, or nothing to compare with.
    None,
}

impl Verdict {
    /// Judges an interval of a ratio. `band` is the half-width of the noise band around 1, such as 0.01.
    pub fn of(ratio: Option<Interval>, band: f64, better: Better) -> Self {
        let Some(ratio) = ratio else { return Self::None };
        let (above, below) = match better {
            Better::Higher => (Self::Win, Self::Loss),
            Better::Lower => (Self::Loss, Self::Win),
        };
        if ratio.low > 1.0 + band {
            above
        } else if ratio.high < 1.0 - band {
            below
        } else if ratio.low >= 1.0 - band && ratio.high <= 1.0 + band {
            Self::Tie
        } else {
            Self::Inconclusive
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Win => "win",
            Self::Tie => "tie",
            Self::Loss => "loss",
            Self::Inconclusive => "inconclusive",
            Self::None => "none",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict() {
        let of = |low, high, better| Verdict::of(Some(Interval { value: 1.0, low, high }), 0.01, better);
        assert_eq!(of(1.02, 1.30, Better::Higher), Verdict::Win);
        assert_eq!(of(1.02, 1.30, Better::Lower), Verdict::Loss);
        assert_eq!(of(0.40, 0.98, Better::Higher), Verdict::Loss);
        assert_eq!(of(0.40, 0.98, Better::Lower), Verdict::Win);
        assert_eq!(of(0.995, 1.005, Better::Higher), Verdict::Tie);
        assert_eq!(of(0.995, 1.02, Better::Higher), Verdict::Inconclusive);
        assert_eq!(Verdict::of(None, 0.01, Better::Higher), Verdict::None);
    }
}
