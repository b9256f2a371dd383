use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Counts the calls that wait, and holds callers up above the limit.
#[derive(Debug)]
pub(crate) struct Waiting {
    count: AtomicUsize,
    limit: usize,
    blocked: Mutex<Vec<Waker>>,
}

impl Waiting {
    pub(crate) fn new(limit: usize) -> Self {
        Self { count: AtomicUsize::new(0), limit: limit.max(1), blocked: Mutex::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Pending while as many calls wait as may.
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.count() < self.limit {
            return Poll::Ready(());
        }
        {
            let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
            if !blocked.iter().any(|waker| waker.will_wake(cx.waker())) {
                blocked.push(cx.waker().clone());
            }
        }
        // Again, in case the last one left in between.
        if self.count() < self.limit { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(crate) fn enter(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Wakes those who were held up, so no lock may be held.
    pub(crate) fn leave(&self) {
        if self.count.fetch_sub(1, Ordering::AcqRel) >= self.limit {
            let blocked = std::mem::take(&mut *self.blocked.lock().unwrap_or_else(PoisonError::into_inner));
            blocked.into_iter().for_each(Waker::wake);
        }
    }
}
