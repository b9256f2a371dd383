//! Giving up calls that take too long, in the same way for every system.
//!
//! A timer per call would cost more than some of the systems do. Instead each client writes down when its call
//! began, which costs one store, and a watchdog looks through these marks now and then. A call may so overrun its
//! limit by one look.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;

/// Nothing in flight.
const IDLE: u64 = u64::MAX;

/// The mark of one client, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Slot {
    began: AtomicU64,
    overdue: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Slot {
    /// Nothing in flight.
    pub fn new() -> Self {
        Self { began: AtomicU64::new(IDLE), overdue: AtomicBool::new(false), waker: Mutex::new(None) }
    }

    /// Says which task to wake when its call is overdue.
    pub fn watch(&self, waker: &Waker) {
        *self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(waker.clone());
    }

    /// A call begins, at this time.
    pub fn begin(&self, now_ns: u64) {
        self.began.store(now_ns, Ordering::Relaxed);
    }

    /// Whether the call in flight has to be given up.
    pub fn overdue(&self) -> bool {
        self.overdue.load(Ordering::Relaxed)
    }

    /// The call is over. Needed only after one that was given up, and at the end.
    pub fn clear(&self) {
        self.began.store(IDLE, Ordering::Relaxed);
        self.overdue.store(false, Ordering::Relaxed);
    }

    /// For the watchdog: marks and wakes a call that began more than `limit_ns` ago.
    pub fn look(&self, now_ns: u64, limit_ns: u64) {
        let began = self.began.load(Ordering::Relaxed);
        if began == IDLE || now_ns.saturating_sub(began) < limit_ns || self.overdue() {
            return;
        }
        // A call that ends right now starts the next one; only the one that was looked at may be given up.
        if self.began.load(Ordering::Relaxed) == began {
            self.overdue.store(true, Ordering::Relaxed);
            if let Some(waker) = &*self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) {
                waker.wake_by_ref();
            }
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_the_late_are_woken() {
        let woken = Arc::new(Count::default());
        let slot = Slot::new();
        slot.watch(&Waker::from(Arc::clone(&woken)));
        slot.look(1_000, 100);
        slot.begin(950);
        slot.look(1_000, 100);
        assert!(!slot.overdue());
        slot.look(1_050, 100);
        slot.look(1_060, 100);
        assert!(slot.overdue());
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        slot.clear();
        slot.look(9_000, 100);
        assert!(!slot.overdue());
    }
}
