//! How figures are written: one fixed unit a column.

use crate::stats::interval::Interval;

/// What stands where there is no figure.
pub const MISSING: &str = "–";

/// A whole number with thousands separators.
pub fn thousands(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Ns as ms with three decimals.
pub fn ms(ns: f64) -> String {
    fixed(ns / 1e6, 3)
}

/// Ns as µs with two decimals.
pub fn us(ns: f64) -> String {
    fixed(ns / 1e3, 2)
}

/// Bytes as MiB with one decimal.
pub fn mib(bytes: f64) -> String {
    fixed(bytes / f64::from(1 << 20), 1)
}

/// With this many decimals.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { MISSING.to_owned() }
}

/// A ratio with about three digits.
pub fn ratio(value: f64) -> String {
    fixed(value, ratio_decimals(value))
}

/// A ratio with its interval, all with the digits of the ratio: `2.31 [2.27, 2.35]`.
pub fn ratio_interval(value: f64, interval: Option<&Interval>) -> String {
    match interval {
        Some(interval) => {
            let (low, high) = ratio_ends(value, interval);
            format!("{} [{low}, {high}]", ratio(value))
        }
        None => ratio(value),
    }
}

/// The ends of a ratio's interval with the digits of the ratio. With two rounds an end can be beyond all reason.
pub fn ratio_ends(value: f64, interval: &Interval) -> (String, String) {
    let end = |end: f64| if end < 1e6 { fixed(end, ratio_decimals(value)) } else { format!("{end:.0e}") };
    (end(interval.low), end(interval.high))
}

fn ratio_decimals(value: f64) -> usize {
    match value.abs() {
        size if size < 0.1 => 4,
        size if size < 2.0 => 3,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    }
}

/// Half of an interval's width in percent of its middle: `± 0.9 %`.
pub fn plus_minus(interval: Option<&Interval>) -> String {
    interval.map_or_else(|| MISSING.to_owned(), |interval| format!("± {:.1} %", interval.precision_percent()))
}

/// A level of confidence in percent.
pub fn level(confidence: f64) -> String {
    let text = format!("{:.2}", confidence * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators() {
        for (value, text) in [
            (0.0, "0"),
            (999.4, "999"),
            (1000.0, "1,000"),
            (1_234_567.8, "1,234,568"),
            (-1234.0, "-1,234"),
            (-0.2, "0"),
        ] {
            assert_eq!(thousands(value), text);
        }
        assert_eq!(thousands(f64::NAN), MISSING);
    }

    #[test]
    fn units() {
        assert_eq!(ms(1_986_000.0), "1.986");
        assert_eq!(us(3_912.0), "3.91");
        assert_eq!(mib(f64::from(14 << 20)), "14.0");
        assert_eq!(fixed(f64::INFINITY, 2), MISSING);
    }

    #[test]
    fn ratios() {
        assert_eq!(ratio(0.0667), "0.0667");
        assert_eq!(ratio(0.999), "0.999");
        assert_eq!(ratio(2.314), "2.31");
        assert_eq!(ratio(20.31), "20.3");
        let interval = Interval { value: 2.31, low: 2.27, high: 2.35 };
        assert_eq!(ratio_interval(2.31, Some(&interval)), "2.31 [2.27, 2.35]");
        assert_eq!(ratio_interval(2.31, None), "2.31");
        let wild = Interval { value: 2.31, low: 0.000_04, high: 1.2e14 };
        assert_eq!(ratio_interval(2.31, Some(&wild)), "2.31 [0.00, 1e14]");
        let near = Interval { value: 2.01, low: 1.99, high: 2.03 };
        assert_eq!(ratio_interval(2.01, Some(&near)), "2.01 [1.99, 2.03]");
        assert_eq!(plus_minus(Some(&interval)), "± 1.7 %");
        assert_eq!(plus_minus(None), MISSING);
    }

    #[test]
    fn levels() {
        assert_eq!(level(0.99), "99 %");
        assert_eq!(level(0.9995), "99.95 %");
    }
}
