//! Presets.

use std::time::Duration;

/// A preset, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For CI: all validity checks, no verdict worth having.
    Smoke,
    /// The default.
    Quick,
    /// The numbers for a README.
    Standard,
}

/// What a preset presets.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Concurrencies and body sizes.
    pub grid: &'static [(usize, usize)],
    /// Rounds.
    pub rounds: u64,
    /// Load before each round.
    pub warmup: Duration,
    /// Length of a round.
    pub duration: Duration,
    /// What to compare with.
    pub baselines: &'static [&'static str],
    /// Whether the first baseline is measured twice.
    pub aa: bool,
    /// Whether allocations are counted.
    pub allocs: bool,
    /// Whether there are enough rounds for a verdict.
    pub verdicts: bool,
}

impl Profile {
    /// Names on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("smoke", Self::Smoke), ("quick", Self::Quick), ("standard", Self::Standard)];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Standard => "standard",
        }
    }

    /// What it presets.
    pub fn preset(self) -> Preset {
        match self {
            Self::Smoke => Preset {
                grid: &[(16, 1024)],
                rounds: 2,
                warmup: Duration::from_millis(200),
                duration: Duration::from_millis(300),
                baselines: &["tonic"],
                aa: false,
                allocs: true,
                verdicts: false,
            },
            Self::Quick => Preset {
                grid: &[(100, 1024)],
                rounds: 5,
                warmup: Duration::from_millis(500),
                duration: Duration::from_millis(1500),
                baselines: &["tonic", "tonic-tuned"],
                aa: true,
                allocs: true,
                verdicts: true,
            },
            Self::Standard => Preset {
                grid: &[
                    (1, 1024),
                    (100, 1024),
                    (400, 1024),
                    (1000, 1024),
                    (100, 64),
                    (100, 5120),
                    (100, 65_536),
                ],
                rounds: 7,
                warmup: Duration::from_secs(1),
                duration: Duration::from_secs(3),
                baselines: &["tonic", "tonic-tuned", "raw-tcp"],
                aa: true,
                allocs: true,
                verdicts: true,
            },
        }
    }
}
