use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

/// How long to wait between attempts to connect to a peer that can not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackoffConfig {
    /// The wait after the first failure. Default: 50 ms.
    pub first: Duration,
    /// The longest wait; each is twice the one before until then. Default: 5 s.
    pub longest: Duration,
}

impl Default for BackoffConfig {
    fn default() -> Self {
        Self { first: Duration::from_millis(50), longest: Duration::from_secs(5) }
    }
}

/// When the next attempt may be made. Each wait is drawn between half and all of its length, so that many clients of a
/// peer that restarts do not come back in one moment.
#[derive(Debug)]
pub struct Backoff {
    config: BackoffConfig,
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    /// No failure yet.
    pub fn new(config: BackoffConfig) -> Self {
        Self { config, failures: 0, until: None }
    }

    /// Whether an attempt may be made.
    pub fn may_try(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| until <= now)
    }

    /// When the next attempt may be made; `None` while nothing has failed.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// An attempt failed.
    pub fn failed(&mut self, now: Instant) {
        let doubled = self.config.first.saturating_mul(2_u32.saturating_pow(self.failures.min(31)));
        let wait = doubled.min(self.config.longest);
        self.failures = self.failures.saturating_add(1);
        self.until = now.checked_add(wait / 2 + wait.mul_f64(random_share() / 2.0));
    }

    /// An attempt succeeded.
    pub fn succeeded(&mut self) {
        self.failures = 0;
        self.until = None;
    }
}

/// A number in `0.0..1.0`. The standard library seeds its hash tables randomly; nothing here needs better.
fn random_share() -> f64 {
    let bits = u32::try_from(RandomState::new().build_hasher().finish() >> 32).unwrap_or(0);
    f64::from(bits) / 2_f64.powi(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let config = BackoffConfig { first: Duration::from_millis(100), longest: Duration::from_millis(350) };
        let (mut backoff, now) = (Backoff::new(config), Instant::now());
        assert!(backoff.may_try(now));
        for longest in [100, 200, 350, 350] {
            backoff.failed(now);
            let wait = backoff.until().unwrap() - now;
            assert!(
                wait >= Duration::from_millis(longest / 2) && wait <= Duration::from_millis(longest),
                "{wait:?}"
            );
            assert!(!backoff.may_try(now) && backoff.may_try(now + wait));
        }
        backoff.succeeded();
        assert!(backoff.may_try(now));
    }
}
