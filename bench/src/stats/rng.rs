//! SplitMix64: small, seedable, and the same on every machine.

/// A stream of random numbers that one seed fixes for good.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The stream of this seed, from its start.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// An index below `len`; 0 when `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "floor of a number in [0, len)"
        )]
        let index = (self.unit() * len as f64) as usize;
        index
    }

    /// Fisher–Yates from the last place down.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_streams() {
        let mut zero = SplitMix64::new(0);
        let first: Vec<u64> = (0..3).map(|_| zero.next_u64()).collect();
        assert_eq!(first, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
        let mut seeded = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| seeded.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        let mut usual = SplitMix64::new(42);
        let first: Vec<u64> = (0..3).map(|_| usual.next_u64()).collect();
        assert_eq!(first, [0xBDD7_3226_2FEB_6E95, 0x28EF_E333_B266_F103, 0x4752_6757_130F_9F52]);
    }

    #[test]
    fn units_stay_below_one() {
        let mut rng = SplitMix64::new(7);
        assert!((0..10_000).map(|_| rng.unit()).all(|u| (0.0..1.0).contains(&u)));
        assert_eq!(rng.index(0), 0);
        assert_eq!(rng.index(1), 0);
    }

    #[test]
    fn shuffling_from_the_identity() {
        let mut rng = SplitMix64::new(42);
        let pairs: Vec<[usize; 4]> = (0..3)
            .map(|_| {
                let mut order = [0, 1, 2, 3];
                rng.shuffle(&mut order);
                order
            })
            .collect();
        assert_eq!(pairs, [[1, 3, 0, 2], [2, 3, 0, 1], [1, 3, 2, 0]]);
    }
}
