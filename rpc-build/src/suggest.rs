//! "Did you mean": the known name that is nearest to a misspelt one.

/// Longer names are not compared: the cost grows with the product of the lengths.
const MAX_LENGTH: usize = 64;

/// The candidate that `name` was probably meant to be; the first of equally near ones.
pub(crate) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let mut best = None;
    let mut limit = (name.len() / 3).clamp(1, 3);
    for candidate in candidates {
        if candidate.len() > MAX_LENGTH || candidate.len().abs_diff(name.len()) > limit || candidate == name {
            continue;
        }
        let distance = if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(name, candidate) };
        // one wrong letter of two is no resemblance
        if distance < candidate.len() && (distance < limit || (distance == limit && best.is_none())) {
            limit = distance;
            best = Some(candidate);
        }
    }
    best
}

/// Insertions, removals, replacements and swaps of neighbours that turn one into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest() {
        let known = ["struct", "string", "service", "i32"];
        assert_eq!(closest("strcut", known), Some("struct"));
        assert_eq!(closest("in32", known), Some("i32"));
        assert_eq!(closest("STRING", known), Some("string"));
        assert_eq!(closest("entirely", known), None);
        assert_eq!(closest(&"x".repeat(100), known), None);
    }

    #[test]
    fn counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "acbd"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
