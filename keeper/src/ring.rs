/// Members on a circle of hashes. A key belongs to the members whose points come first behind its own.
///
/// Each member has many points, so that shares are even, and so that what belonged to one that leaves is spread over all
/// others. The points depend on nothing but the members' names: keepers with the same members agree.
#[derive(Debug)]
pub(crate) struct Ring {
    /// Points with the member that each belongs to, in their order.
    points: Vec<(u64, usize)>,
    members: usize,
}

/// Points of a member. With so many, the largest share of ten members is some 1.3 times the smallest at most places.
const POINTS: u64 = 160;

impl Ring {
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut points = Vec::new();
        let mut members = 0;
        for name in names {
            let seed = hash(name.as_bytes());
            points.extend((0..POINTS).map(|point| (mix(seed ^ mix(point)), members)));
            members += 1;
        }
        points.sort_unstable();
        Self { points, members }
    }

    /// The members that a key belongs to, nearest first: so many, or all if there are fewer.
    pub(crate) fn find(&self, key: &[u8], copies: usize) -> Vec<usize> {
        let copies = copies.clamp(1, self.members.max(1));
        let at = hash(key);
        let start = self.points.partition_point(|(point, _)| *point < at);
        let (before, behind) = self.points.split_at(start);
        let mut found = Vec::with_capacity(copies);
        for (_, member) in behind.iter().chain(before) {
            if !found.contains(member) {
                found.push(*member);
                if found.len() == copies {
                    break;
                }
            }
        }
        found
    }
}

/// FNV-1a, whose weak last bytes are mixed into all of it.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(fnv)
}

/// Spreads each bit over all (the finisher of SplitMix64). Numbers that are counted up become random ones by it.
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["a:9199", "b:9199", "c:9199", "d:9199", "e:9199"];

    fn keys() -> impl Iterator<Item = String> {
        (0..10_000).map(|i| format!("user{i}"))
    }

    #[test]
    fn shares_are_even() {
        let ring = Ring::new(NAMES);
        let mut shares = [0; NAMES.len()];
        for key in keys() {
            shares[ring.find(key.as_bytes(), 1)[0]] += 1;
        }
        assert!(shares.iter().all(|share| (1_400..2_700).contains(share)), "{shares:?}");
    }

    #[test]
    fn copies_are_on_different_members() {
        let ring = Ring::new(NAMES);
        for key in keys().take(500) {
            for copies in 0..8 {
                let mut found = ring.find(key.as_bytes(), copies);
                assert_eq!(found.len(), copies.clamp(1, NAMES.len()));
                assert_eq!(found[..1], ring.find(key.as_bytes(), 1)[..], "the first stays the first");
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), copies.clamp(1, NAMES.len()));
            }
        }
    }

    /// When one leaves, what the others have stays where it is, and they take over its part about evenly.
    #[test]
    fn a_member_that_leaves_moves_nothing_but_its_own() {
        let (before, after) =
            (Ring::new(NAMES), Ring::new(NAMES.into_iter().filter(|name| *name != "c:9199")));
        let left: Vec<&str> = NAMES.into_iter().filter(|name| *name != "c:9199").collect();
        let mut taken_over = [0; 4];
        for key in keys() {
            let was = NAMES[before.find(key.as_bytes(), 1)[0]];
            let is = after.find(key.as_bytes(), 1)[0];
            if was == "c:9199" {
                taken_over[is] += 1;
            } else {
                assert_eq!(was, left[is], "{key}");
            }
        }
        assert!(taken_over.iter().all(|count| *count > 200), "{taken_over:?}");
    }

    /// Other keepers, and this one after a restart, have to agree.
    #[test]
    fn places_depend_on_names_alone() {
        let forward = Ring::new(NAMES);
        let backward = Ring::new(NAMES.into_iter().rev());
        for key in keys().take(1_000) {
            let name = NAMES[forward.find(key.as_bytes(), 1)[0]];
            assert_eq!(name, NAMES[4 - backward.find(key.as_bytes(), 1)[0]]);
        }
        assert_eq!(hash(b"user1"), 0xf0a3_06be_29f1_db90);
    }

    #[test]
    fn nobody_has_nothing() {
        assert!(Ring::new([]).find(b"key", 2).is_empty());
    }
}
