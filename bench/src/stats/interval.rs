//! Intervals of means, of paired differences and of ratios. Every one is a t interval over independent rounds.

use serde::{Deserialize, Serialize};

use super::moments::Moments;
use super::quantile::{normal, student, student_p_value};

/// An estimate with its two-sided interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Half of the width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half of the width in percent of the estimate.
    pub fn precision_percent(&self) -> f64 {
        100.0 * self.half_width() / self.value.abs()
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { value: f(self.value), low: f(self.low), high: f(self.high) }
    }
}

/// The interval of a mean; `None` with fewer than two samples.
pub fn of_mean(samples: &[f64], confidence: f64) -> Option<Interval> {
    of_moments(&Moments::of(samples), confidence)
}

/// A ratio as the geometric mean over pairs, kept as logarithms so that intervals of any level follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRatio {
    logs: Moments,
}

impl PairedRatio {
    /// Of `a / b`, pair by pair. `None` without pairs, or if a number is not positive.
    pub fn new(a: &[f64], b: &[f64]) -> Option<Self> {
        let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        let sound = |x: f64| x.is_finite() && x > 0.0;
        if pairs.is_empty() || !pairs.iter().all(|&(a, b)| sound(a) && sound(b)) {
            return None;
        }
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
        Some(Self { logs: Moments::of(&logs) })
    }

    /// The geometric mean.
    pub fn value(&self) -> f64 {
        self.logs.mean.exp()
    }

    /// Its interval; `None` with a single pair.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        of_moments(&self.logs, confidence).map(|logs| logs.map(f64::exp))
    }

    /// Half of the width of the interval of the logarithm: for two names of one system this is the noise floor.
    pub fn log_half_width(&self, confidence: f64) -> Option<f64> {
        of_moments(&self.logs, confidence).map(|logs| logs.half_width())
    }

    /// The chance of a ratio at least as far from 1 if there were no difference; NaN with a single pair.
    pub fn p_value(&self) -> f64 {
        let freedom = self.logs.count.saturating_sub(1);
        let error = self.logs.deviation() / (self.logs.count as f64).sqrt();
        if error == 0.0 {
            return if self.logs.mean == 0.0 { 1.0 } else { 0.0 };
        }
        student_p_value(self.logs.mean / error, freedom)
    }

    /// Standard deviation of the logarithms, for planning more rounds.
    pub fn log_deviation(&self) -> f64 {
        self.logs.deviation()
    }
}

/// How many samples bring the half-width down to `percent` of the mean.
pub fn samples_for_precision(deviation: f64, mean: f64, percent: f64, confidence: f64) -> f64 {
    let z = normal(0.5 + confidence / 2.0);
    (100.0 * z * deviation / (percent * mean)).powi(2)
}

fn of_moments(moments: &Moments, confidence: f64) -> Option<Interval> {
    if moments.count < 2 {
        return None;
    }
    let t = student(0.5 + confidence / 2.0, moments.count - 1);
    let half = t * moments.deviation() / (moments.count as f64).sqrt();
    Some(Interval { value: moments.mean, low: moments.mean - half, high: moments.mean + half })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::vectors::close;

    const TONIC: [f64; 8] = [2.412, 2.447, 2.398, 2.521, 2.433, 2.405, 2.489, 2.461];
    const MUX: [f64; 8] = [1.118, 1.131, 1.102, 1.196, 1.125, 1.109, 1.163, 1.147];

    fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a - b).collect()
    }

    fn check(interval: Option<Interval>, value: &str, low: &str, high: &str) {
        let interval = interval.expect("enough samples");
        close(interval.value, value);
        close(interval.low, low);
        close(interval.high, high);
    }

    #[test]
    fn paired_differences_from_the_book() {
        let a = [5.4, 16.6, 0.6, 1.4, 0.6, 7.3];
        let b = [19.1, 3.5, 3.4, 2.5, 3.6, 1.7];
        check(of_mean(&differences(&a, &b), 0.90), "-0.316667", "-7.748784", "7.115451");
        close(Moments::of(&differences(&a, &b)).deviation(), "9.034471");

        let d = [1.5, 2.6, -1.8, 1.3, -0.5, 1.7, 2.4];
        close(Moments::of(&d).deviation(), "1.603864");
        check(of_mean(&d, 0.99), "1.028571", "-1.218885", "3.276028");
        check(of_mean(&d, 0.95), "1.028571", "-0.454756", "2.511899");
    }

    #[test]
    fn paired_differences_of_two_systems() {
        let interval = of_mean(&differences(&TONIC, &MUX), 0.99).expect("eight pairs");
        check(Some(interval), "1.309375", "1.293298", "1.325452");
        close(interval.precision_percent(), "1.227811");
        check(of_mean(&TONIC, 0.99), "2.445750", "2.392412", "2.499088");
        check(of_mean(&MUX, 0.99), "1.136375", "1.097802", "1.174948");
        let (a, b) = (Moments::of(&TONIC), Moments::of(&MUX));
        close(a.deviation(), "0.043110");
        close(b.deviation(), "0.031177");
        close(a.variation_percent(), "1.762663");
        close(b.variation_percent(), "2.743516");
        let d = Moments::of(&differences(&TONIC, &MUX));
        close(d.deviation(), "0.012993817");
        let t = d.mean / (d.deviation() / 8_f64.sqrt());
        close(t, "285.018");
        close(student_p_value(t, 7), "1.73e-15");
    }

    #[test]
    fn the_headline_ratio() {
        let ratio = PairedRatio::new(&TONIC, &MUX).expect("positive numbers");
        close(ratio.logs.mean, "0.766698");
        close(ratio.log_deviation(), "0.010073");
        check(ratio.interval(0.99), "2.152647", "2.125984", "2.179644");
        close(ratio.value(), "2.152647");
        assert!(ratio.p_value() < 1e-13);
        let half = ratio.log_half_width(0.99).expect("eight pairs");
        close(half, "0.012463");
    }

    #[test]
    fn pairing_removes_a_shared_drift() {
        let a = [2.41, 2.73, 2.215, 2.9, 2.49, 2.12, 2.845, 2.66];
        let b = [2.29, 2.66, 2.1, 2.82, 2.385, 2.005, 2.76, 2.53];
        let interval = of_mean(&differences(&a, &b), 0.99).expect("eight pairs");
        close(interval.low, "0.075841");
        close(interval.high, "0.129159");
    }

    #[test]
    fn half_width_by_rounds() {
        for (rounds, printed) in [
            (3_u64, "5.730"),
            (5, "2.059"),
            (7, "1.401"),
            (10, "1.028"),
            (15, "0.769"),
            (20, "0.640"),
            (32, "0.485"),
        ] {
            close(student(0.995, rounds - 1) / (rounds as f64).sqrt(), printed);
        }
    }

    #[test]
    fn how_many_rounds() {
        let samples = samples_for_precision(5.0, 20.0, 5.0, 0.95);
        close(samples, "96.04");
        assert!((samples.ceil() - 97.0).abs() < f64::EPSILON);
    }

    #[test]
    fn too_little_to_say() {
        assert_eq!(of_mean(&[1.0], 0.99), None);
        assert!(PairedRatio::new(&[], &[]).is_none());
        assert!(PairedRatio::new(&[1.0], &[0.0]).is_none());
        let one = PairedRatio::new(&[3.0], &[2.0]).expect("one pair");
        assert_eq!(one.interval(0.99), None);
        assert!(one.p_value().is_nan());
        let equal = PairedRatio::new(&[3.0, 3.0], &[3.0, 3.0]).expect("two pairs");
        assert!((equal.p_value() - 1.0).abs() < f64::EPSILON);
    }
}
