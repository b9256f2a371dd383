//! Student t and normal distributions.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The `p` quantile of Student's t with `freedom` degrees of freedom, such as 0.995 for a two-sided 99 % interval.
/// NaN when `p` is not a probability or `freedom` is 0.
pub fn student(p: f64, freedom: u64) -> f64 {
    let Ok(distribution) = StudentsT::new(0.0, 1.0, freedom as f64) else { return f64::NAN };
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let start = distribution.inverse_cdf(p);
    polish(start, p, |t| distribution.cdf(t))
}

/// The `p` quantile of the standard normal distribution; NaN when `p` is not a probability.
pub fn normal(p: f64) -> f64 {
    if (0.0..=1.0).contains(&p) { Normal::standard().inverse_cdf(p) } else { f64::NAN }
}

/// The chance of a |t| at least as large as this one when there is no difference (two-sided).
pub fn student_p_value(t: f64, freedom: u64) -> f64 {
    let Ok(distribution) = StudentsT::new(0.0, 1.0, freedom as f64) else { return f64::NAN };
    // The lower tail keeps its digits where 1 − cdf would have lost them.
    2.0 * distribution.cdf(-t.abs())
}

/// A few bisection steps around a first answer: library inverses differ in how many digits they deliver.
fn polish(start: f64, p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    if !start.is_finite() {
        return start;
    }
    let reach = 1e-3 * start.abs().max(1e-6);
    let (mut low, mut high) = (start - reach, start + reach);
    if cdf(low) > p || cdf(high) < p {
        return start;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::vectors::close;

    #[test]
    fn table_of_student() {
        for (p, freedom, printed) in [
            (0.95, 5, "2.015048"),
            (0.995, 6, "3.707428"),
            (0.995, 7, "3.499483"),
            (0.95, 8, "1.859548"),
            (0.995, 16, "2.920782"),
            (0.995, 18, "2.878440"),
            (0.995, 31, "2.744042"),
            (0.9995, 9, "4.780913"),
            (0.9995, 14, "4.140454"),
            (0.9995, 99, "3.391529"),
            (0.9995, 199, "3.340087"),
            (0.975, 1, "12.706205"),
            (0.995, 1000, "2.580755"),
        ] {
            close(student(p, freedom), printed);
            close(-student(1.0 - p, freedom), printed);
        }
    }

    #[test]
    fn table_of_the_normal() {
        for (p, printed) in [(0.975, "1.959964"), (0.995, "2.575829"), (0.9995, "3.290527")] {
            close(normal(p), printed);
        }
    }

    #[test]
    fn nonsense_is_not_a_number() {
        assert!(student(1.5, 5).is_nan());
        assert!(student(0.9, 0).is_nan());
        assert!(normal(f64::NAN).is_nan());
    }

    #[test]
    fn tails_keep_their_digits() {
        close(student_p_value(285.018, 7), "1.73e-15");
    }
}
