//! The latency histogram: 1 ns to 60 s, three digits, with exact extremes and exact moments beside it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use super::moments::{ExactSums, Moments};

const LONGEST_NS: u64 = 60_000_000_000;
const DIGITS: u8 = 3;
/// A percentile is shown only if at least this many samples lie above it.
const SAMPLES_ABOVE: f64 = 10.0;

/// Latencies in nanoseconds.
#[derive(Clone)]
pub struct Latencies {
    histogram: Histogram<u64>,
    moments: Moments,
    sums: ExactSums,
    min: u64,
    max: u64,
}

impl Latencies {
    /// Without samples. Takes some 220 KiB.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid");
        Self { histogram, moments: Moments::default(), sums: ExactSums::default(), min: u64::MAX, max: 0 }
    }

    /// Adds one latency. Above 60 s the histogram holds 60 s; mean and maximum stay exact.
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sums.add(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds all samples of another.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
        self.moments = self.moments.merged(other.moments);
        self.sums.merge(&other.sums);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Samples recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Count, exact mean and exact variance.
    pub fn moments(&self) -> Moments {
        self.moments.merged(self.sums.moments())
    }

    /// The shortest, exact; `None` without samples.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// The longest, exact; `None` without samples.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The highest value of the bucket that holds the ⌈q·N⌉-th smallest sample, in ns.
    pub fn quantile(&self, q: f64) -> u64 {
        self.histogram.value_at_quantile(q)
    }

    /// [`quantile`](Self::quantile), or `None` when too few samples lie above it for the figure to mean anything.
    pub fn trusted_quantile(&self, q: f64) -> Option<u64> {
        ((1.0 - q) * self.count() as f64 >= SAMPLES_ABOVE).then(|| self.quantile(q))
    }

    /// For the wire and for files.
    pub fn pack(&self) -> PackedLatencies {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes).expect("a vector takes every byte");
        PackedLatencies {
            moments: self.moments(),
            min: self.min,
            max: self.max,
            histogram: STANDARD.encode(bytes),
        }
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latencies").field("moments", &self.moments()).field("max", &self.max()).finish()
    }
}

/// [`Latencies`] as text: the histogram is the compressed V2 log format in base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedLatencies {
    /// Count, mean (ns) and sum of squared deviations (ns²).
    pub moments: Moments,
    /// Shortest, ns.
    pub min: u64,
    /// Longest, ns.
    pub max: u64,
    /// Base64 of the compressed histogram.
    pub histogram: String,
}

impl PackedLatencies {
    /// The other way round.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, in words.
    pub fn unpack(&self) -> Result<Latencies, String> {
        let bytes =
            STANDARD.decode(&self.histogram).map_err(|error| format!("histogram is not base64: {error}"))?;
        let stored: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| format!("histogram is damaged: {error}"))?;
        let mut latencies = Latencies::new();
        latencies.histogram.add(&stored).map_err(|error| format!("histogram has other bounds: {error}"))?;
        latencies.moments = self.moments;
        latencies.min = self.min;
        latencies.max = self.max;
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::new();
        samples.into_iter().for_each(|ns| latencies.record(ns));
        latencies
    }

    #[test]
    fn quantiles_of_one_to_ten_thousand() {
        let all = of(1..=10_000);
        for (q, printed) in
            [(0.5, 5003), (0.9, 9007), (0.99, 9903), (0.999, 9991), (0.9999, 9999), (1.0, 10_007)]
        {
            assert_eq!(all.quantile(q), printed, "q {q}");
        }
        assert_eq!((all.min(), all.max()), (Some(1), Some(10_000)));
    }

    #[test]
    fn nearest_rank() {
        let few = of([15, 20, 35, 40, 50]);
        for (q, printed) in [(0.3, 20), (0.4, 20), (0.5, 35), (1.0, 50)] {
            assert_eq!(few.quantile(q), printed, "q {q}");
        }
    }

    #[test]
    fn percentiles_need_samples_above_them() {
        let all = of(1..=1_000);
        assert!(all.trusted_quantile(0.99).is_some());
        assert_eq!(all.trusted_quantile(0.999), None);
        assert_eq!(Latencies::new().trusted_quantile(0.5), None);
        assert_eq!(Latencies::new().max(), None);
    }

    #[test]
    fn packing_keeps_everything() {
        let mut one = of([1_000, 2_000, 70_000_000_000]);
        let other = of([5, 3_000]);
        one.merge(&other);
        let back = one.pack().unpack().expect("what was packed");
        assert_eq!(back.pack(), one.pack());
        assert_eq!(back.max(), Some(70_000_000_000));
        assert_eq!(back.count(), 5);
        assert!((back.moments().mean - 14_000_001_201.0).abs() < 1e-3);
    }

    #[test]
    fn damage_is_reported() {
        let mut packed = of([1, 2, 3]).pack();
        packed.histogram.truncate(8);
        assert!(packed.unpack().is_err());
        packed.histogram = "@@".into();
        assert!(packed.unpack().unwrap_err().contains("base64"));
    }
}
