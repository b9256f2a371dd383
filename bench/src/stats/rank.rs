//! Tests that assume no distribution. With few rounds they can say little; they stand beside the t interval.

/// Wilcoxon's signed-rank test of paired differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// The smaller of the two rank sums; ties share their mean rank, zeros are left out.
    pub statistic: f64,
    /// Exact two-sided p-value: every pattern of signs is equally likely under no difference.
    pub p_value: f64,
}

/// `None` if all differences are zero.
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    let mut sizes: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if sizes.is_empty() || sizes.iter().any(|d| d.is_nan()) {
        return None;
    }
    sizes.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&sizes);
    let total: usize = doubled.iter().sum();
    let positive: usize = doubled.iter().zip(&sizes).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
    let smaller = positive.min(total - positive);

    // ways[s] = the share of sign patterns whose positive (doubled) ranks add up to s.
    let mut ways = vec![0.0_f64; total + 1];
    ways[0] = 1.0;
    for &rank in &doubled {
        for sum in (0..=total).rev() {
            let with = if sum >= rank { ways[sum - rank] } else { 0.0 };
            ways[sum] = 0.5 * (ways[sum] + with);
        }
    }
    let tail: f64 = ways[..=smaller].iter().sum();
    Some(SignedRank { statistic: smaller as f64 / 2.0, p_value: (2.0 * tail).min(1.0) })
}

/// Twice the rank of each size (so that shared ranks stay whole numbers). `sizes` is sorted by magnitude.
fn doubled_ranks(sizes: &[f64]) -> Vec<usize> {
    let mut ranks = vec![0; sizes.len()];
    let mut start = 0;
    while start < sizes.len() {
        let ties = sizes[start..].iter().take_while(|d| (d.abs() - sizes[start].abs()).abs() < 1e-12).count();
        // Places start+1 ..= start+ties share their mean.
        ranks[start..start + ties].fill(2 * start + ties + 1);
        start += ties;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::vectors::close;

    #[test]
    fn differences_from_the_book() {
        let test = signed_rank(&[1.5, 2.6, -1.8, 1.3, -0.5, 1.7, 2.4]).expect("differences");
        close(test.statistic, "6");
        close(test.p_value, "0.21875");
    }

    #[test]
    fn eight_of_eight() {
        let test =
            signed_rank(&[1.294, 1.316, 1.296, 1.325, 1.308, 1.296, 1.326, 1.314]).expect("differences");
        close(test.p_value, "0.0078125");
        assert!(test.statistic.abs() < f64::EPSILON);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(doubled_ranks(&[1.0, -1.0, 2.0]), [3, 3, 6]);
    }

    #[test]
    fn nothing_to_test() {
        assert_eq!(signed_rank(&[0.0, 0.0]), None);
        assert_eq!(signed_rank(&[]), None);
    }
}
