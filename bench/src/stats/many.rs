//! What changes when many ratios are judged together.

/// The geometric mean, the only fair mean of ratios; NaN without any, or with one that is not positive.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    if ratios.is_empty() {
        return f64::NAN;
    }
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// One p-value among many, after Holm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holm {
    /// The adjusted p-value: below α means significant at family-wise level α.
    pub p_value: f64,
    /// By how much α is divided for the interval of this comparison.
    pub divisor: u64,
}

/// Holm's step-down adjustment, in the order of the input. NaN (no interval) counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<Holm> {
    let size = p_values.len();
    let known = |p: f64| if p.is_nan() { 1.0 } else { p };
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| known(p_values[a]).total_cmp(&known(p_values[b])));
    let mut adjusted = vec![Holm { p_value: 1.0, divisor: 1 }; size];
    let mut largest = 0.0_f64;
    for (place, &index) in order.iter().enumerate() {
        let remaining = size - place;
        largest = largest.max((remaining as f64 * known(p_values[index])).min(1.0));
        adjusted[index] = Holm { p_value: largest, divisor: remaining as u64 };
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::vectors::close;

    #[test]
    fn mean_of_ratios() {
        close(geometric_mean(&[2.31, 1.87, 0.94, 1.42, 3.05]), "1.774328");
        assert!(geometric_mean(&[]).is_nan());
    }

    #[test]
    fn stepping_down() {
        let adjusted = holm(&[0.0004, 0.0030, 0.0110, 0.0450, 0.2000]);
        for (holm, printed) in adjusted.iter().zip(["0.002", "0.012", "0.033", "0.090", "0.200"]) {
            close(holm.p_value, printed);
        }
        let rejected = |level: f64| adjusted.iter().filter(|holm| holm.p_value < level).count();
        assert_eq!((rejected(0.05), rejected(0.01)), (3, 1));
        assert_eq!(adjusted.iter().map(|holm| holm.divisor).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
    }

    #[test]
    fn order_of_input_is_kept() {
        let adjusted = holm(&[0.2, f64::NAN, 0.0004]);
        close(adjusted[2].p_value, "0.0012");
        assert!((adjusted[1].p_value - 1.0).abs() < f64::EPSILON);
        assert_eq!(adjusted[0].divisor, 2);
    }
}
