//! Figures that tell whether a measurement can be believed.

/// Calls in flight that throughput and mean latency imply, over the calls meant to be in flight (Little's law).
/// 1 for a sound closed loop; clearly less means that clients sat idle or starved.
pub fn little_ratio(per_second: f64, mean_ns: f64, in_flight: usize) -> f64 {
    per_second * mean_ns / 1e9 / in_flight as f64
}

/// Jain's fairness index of the work of several clients: 1 if all did the same, 1/n if one did everything. NaN
/// without any work.
pub fn fairness(counts: &[u64]) -> f64 {
    let sum: f64 = counts.iter().map(|&count| count as f64).sum();
    let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
    sum * sum / (counts.len() as f64 * squares)
}

/// CPU time per request in ns.
pub fn cpu_per_request(cpu_ns: u64, requests: u64) -> f64 {
    cpu_ns as f64 / requests as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::vectors::close;

    #[test]
    fn published_rows_against_little() {
        close(little_ratio(17_947.0, 109_100.0, 4), "0.4895");
        close(little_ratio(26_184.0, 149_700.0, 4), "0.980");
        close(little_ratio(83_556.0, 176_900.0, 16), "0.924");
        close(little_ratio(1_336.97, 7_480_000.0, 10), "1.000");
    }

    #[test]
    fn fairness_of_clients() {
        close(fairness(&[1, 1, 0, 0]), "0.5");
        close(fairness(&[100, 98, 103, 99]), "0.999650");
        assert!(fairness(&[]).is_nan());
    }

    #[test]
    fn cost_of_a_request() {
        close(cpu_per_request(3_351_400_000, 283_018) / 1e3, "11.8416");
        close(cpu_per_request(2_963_100_000, 377_036) / 1e3, "7.8589");
        close(cpu_per_request(1_842_000_000, 400_000) / 1e3, "4.605");
    }
}
