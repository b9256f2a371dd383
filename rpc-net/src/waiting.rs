use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Counts the calls that wait for a transport's connections, and holds callers up above a limit: what `poll_ready` of a
/// transport asks.
#[derive(Debug)]
pub struct Waiting {
    count: AtomicUsize,
    limit: usize,
    blocked: Mutex<Vec<Waker>>,
}

impl Waiting {
    /// So many calls may wait; 0 counts as 1.
    pub fn new(limit: usize) -> Self {
        Self { count: AtomicUsize::new(0), limit: limit.max(1), blocked: Mutex::default() }
    }

    /// How many calls wait.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Pending while as many calls wait as may; the task is woken when one of them waits no longer.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
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

    /// A call begins to wait.
    pub fn enter(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// A call waits no longer. Wakes those who were held up.
    pub fn leave(&self) {
        if self.count.fetch_sub(1, Ordering::AcqRel) >= self.limit {
            let blocked = std::mem::take(&mut *self.blocked.lock().unwrap_or_else(PoisonError::into_inner));
            blocked.into_iter().for_each(Waker::wake);
        }
    }
}
