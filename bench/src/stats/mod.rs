//! The arithmetic of the reports, each formula beside the vectors that it must reproduce.
//!
//! - [`rng`]: the one random generator, and the order of rounds that it shuffles.
//! - [`quantile`]: Student t and normal distributions.
//! - [`moments`]: count, mean and variance, merged over threads and rounds.
//! - [`latency`]: the histogram that percentiles are read from.
//! - [`interval`]: intervals of means, of paired differences and of ratios.
//! - [`rank`]: tests without a distribution, as a second opinion.
//! - [`many`]: what changes when many ratios are judged together.
//! - [`sanity`]: figures that tell whether a measurement can be believed.
//! - [`verdict`]: win, tie, loss or inconclusive.

pub mod interval;
pub mod latency;
pub mod many;
pub mod moments;
pub mod quantile;
pub mod rank;
pub mod rng;
pub mod sanity;
pub mod verdict;

#[cfg(test)]
pub(crate) mod vectors;
