//! Comparing with printed digits.

/// Asserts that `got` equals the number printed in `printed`, give or take one unit of its last digit.
#[track_caller]
pub(crate) fn close(got: f64, printed: &str) {
    let wanted: f64 = printed.parse().expect("a printed number");
    let (mantissa, exponent) = printed.split_once(['e', 'E']).unwrap_or((printed, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent: i32 = exponent.parse().expect("a printed exponent");
    let unit = 10_f64.powi(exponent - i32::try_from(decimals).expect("few digits"));
    assert!((got - wanted).abs() <= unit * 1.000_001, "got {got}, printed {printed}");
}
