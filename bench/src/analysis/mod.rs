//! From rounds to statements: cells, validity flags, ratios, verdicts.
//!
//! - [`cell`]: one system under one condition, all rounds together.
//! - [`flags`]: whether its figures can be believed.
//! - [`comparison`]: ratios to the baseline, and what they say.

pub mod cell;
pub mod comparison;
pub mod flags;

#[cfg(test)]
pub(crate) mod samples;
