//! Where latencies go: one histogram for each worker thread, fed in batches.

use std::cell::Cell;
use std::sync::Mutex;

use crate::stats::latency::Latencies;

const BATCH: usize = 64;

thread_local! {
    static WORKER: Cell<usize> = const { Cell::new(0) };
}

/// Tells the recorder which worker the calling thread is.
pub fn this_thread_is(worker: usize) {
    WORKER.set(worker);
}

/// One histogram for each worker thread. A histogram is some 200 KiB, so one a client would be too many.
#[derive(Debug)]
pub struct Recorder {
    workers: Vec<Mutex<Latencies>>,
}

impl Recorder {
    /// For this many worker threads.
    pub fn new(workers: usize) -> Self {
        Self { workers: (0..workers.max(1)).map(|_| Mutex::default()).collect() }
    }

    /// All of it together.
    pub fn merged(&self) -> Latencies {
        let mut all = Latencies::new();
        for worker in &self.workers {
            all.merge(&worker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        all
    }

    fn add(&self, batch: &[u64]) {
        // The lock is this thread's own in all but the oddest cases, and taken once in 64 calls.
        let mine = &self.workers[WORKER.get() % self.workers.len()];
        let mut mine = mine.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        batch.iter().for_each(|&ns| mine.record(ns));
    }
}

/// The latest latencies of one client.
#[derive(Debug)]
pub struct Batch {
    samples: [u64; BATCH],
    len: usize,
}

impl Batch {
    /// Without samples.
    pub fn new() -> Self {
        Self { samples: [0; BATCH], len: 0 }
    }

    /// One more; hands them over when there are enough.
    pub fn push(&mut self, ns: u64, recorder: &Recorder) {
        self.samples[self.len] = ns;
        self.len += 1;
        if self.len == BATCH {
            self.flush(recorder);
        }
    }

    /// Hands over what there is.
    pub fn flush(&mut self, recorder: &Recorder) {
        recorder.add(&self.samples[..self.len]);
        self.len = 0;
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_batches() {
        let recorder = Recorder::new(2);
        std::thread::scope(|scope| {
            for worker in 0..2 {
                let recorder = &recorder;
                scope.spawn(move || {
                    this_thread_is(worker);
                    let mut batch = Batch::new();
                    (1..=150_u64).for_each(|ns| batch.push(ns, recorder));
                    batch.flush(recorder);
                });
            }
        });
        let all = recorder.merged();
        assert_eq!((all.count(), all.min(), all.max()), (300, Some(1), Some(150)));
    }
}
