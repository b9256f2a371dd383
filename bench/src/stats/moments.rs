//! Count, mean and variance of samples that several threads and rounds have taken.

use serde::{Deserialize, Serialize};

/// Count, mean and sum of squared deviations, kept so that two of them can be merged without the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Samples seen.
    pub count: u64,
    /// Their mean; 0 without samples.
    pub mean: f64,
    /// Sum of squared deviations from the mean.
    pub m2: f64,
}

impl Moments {
    /// The moments of these samples.
    pub fn of(samples: &[f64]) -> Self {
        samples.iter().fold(Self::default(), |so_far, &sample| so_far.with(sample))
    }

    /// One more sample (Welford).
    #[must_use]
    pub fn with(self, sample: f64) -> Self {
        let count = self.count + 1;
        let delta = sample - self.mean;
        let mean = self.mean + delta / count as f64;
        Self { count, mean, m2: self.m2 + delta * (sample - mean) }
    }

    /// Both sets of samples together (Chan).
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0 {
            return self;
        }
        let delta = other.mean - self.mean;
        let share = other.count as f64 / count as f64;
        let m2 = self.m2 + other.m2 + delta * delta * self.count as f64 * share;
        Self { count, mean: self.mean + delta * share, m2 }
    }

    /// Sample variance; NaN with fewer than two samples.
    pub fn variance(&self) -> f64 {
        if self.count < 2 { f64::NAN } else { self.m2 / (self.count - 1) as f64 }
    }

    /// Sample standard deviation; NaN with fewer than two samples.
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Coefficient of variation in percent of the mean.
    pub fn variation_percent(&self) -> f64 {
        100.0 * self.deviation() / self.mean
    }
}

/// Exact sums of whole nanoseconds: cheaper per sample than Welford's division, and without rounding.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactSums {
    count: u64,
    sum: u128,
    squares: u128,
}

impl ExactSums {
    /// One more sample.
    pub fn add(&mut self, sample: u64) {
        self.count += 1;
        self.sum += u128::from(sample);
        self.squares += u128::from(sample) * u128::from(sample);
    }

    /// Adds the samples of another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The same as moments. The one subtraction that cancels is done in whole numbers.
    pub fn moments(&self) -> Moments {
        if self.count == 0 {
            return Moments::default();
        }
        let count = u128::from(self.count);
        let mean = self.sum as f64 / self.count as f64;
        // Σx² − (Σx)²/n = (n·Σx² − (Σx)²)/n, which fits 128 bits up to n·Σx ≈ 10^19; beyond that fall back to f64.
        let exact = count
            .checked_mul(self.squares)
            .and_then(|left| self.sum.checked_mul(self.sum).map(|right| left.saturating_sub(right)))
            .map(|scaled| scaled as f64 / self.count as f64);
        let m2 = exact.unwrap_or_else(|| (self.squares as f64 - mean * self.sum as f64).max(0.0));
        Moments { count: self.count, mean, m2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::vectors::close;

    #[test]
    fn merging_two_sets() {
        let merged = Moments::of(&[1.0, 2.0, 3.0, 4.0]).merged(Moments::of(&[10.0, 20.0]));
        assert_eq!(merged.count, 6);
        close(merged.mean, "6.666667");
        close(merged.m2, "263.333333");
        close(merged.variance(), "52.666667");
        assert_eq!(Moments::default().merged(merged), merged);
        assert_eq!(merged.merged(Moments::default()), merged);
    }

    #[test]
    fn exact_sums_agree_with_welford() {
        let samples = [100_u64, 250, 90, 1_000_000_007, 42];
        let mut sums = ExactSums::default();
        let mut rest = ExactSums::default();
        for (i, &sample) in samples.iter().enumerate() {
            if i % 2 == 0 { sums.add(sample) } else { rest.add(sample) }
        }
        sums.merge(&rest);
        let welford = Moments::of(&samples.map(|sample| sample as f64));
        let exact = sums.moments();
        assert_eq!(exact.count, 5);
        assert!((exact.mean / welford.mean - 1.0).abs() < 1e-12);
        assert!((exact.m2 / welford.m2 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_samples() {
        assert_eq!(ExactSums::default().moments(), Moments::default());
        assert!(Moments::default().variance().is_nan());
    }
}
