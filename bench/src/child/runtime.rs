//! The tokio runtime of a server or a load generator: the same flavour for every system.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use tokio::runtime::{Builder, Runtime};

use crate::cpus;
use crate::load::recorder;
use crate::system::BoxError;

/// A multi-thread runtime of `threads` workers, each held on one CPU of `cpus` (in turn), or free if that is empty.
/// The calling thread is held on the whole set. Returns when all workers run.
///
/// # Errors
///
/// If threads can not be started, or a CPU can not be had.
pub fn build(threads: usize, cpus: &[usize]) -> Result<Runtime, BoxError> {
    cpus::pin(cpus)?;
    let started = Arc::new(AtomicUsize::new(0));
    let all = Arc::new(Barrier::new(threads + 1));
    let set = cpus.to_vec();
    let barrier = Arc::clone(&all);
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .on_thread_start(move || {
            let place = started.fetch_add(1, Ordering::SeqCst);
            // Threads after the workers are those for blocking work; they keep the whole set.
            if place < threads {
                if let Some(&cpu) = set.get(place % set.len().max(1))
                    && let Err(error) = cpus::pin(&[cpu])
                {
                    eprintln!("{error}");
                }
                recorder::this_thread_is(place);
                barrier.wait();
            }
        })
        .build()?;
    all.wait();
    Ok(runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_stay_on_their_cpu() {
        let allowed = cpus::usable();
        let cpu = allowed[0];
        // In a thread of its own, since the caller is pinned too.
        let seen = std::thread::spawn(move || {
            let runtime = build(2, &[cpu]).expect("a runtime");
            runtime.block_on(async { tokio::spawn(async { cpus::usable() }).await.expect("a task") })
        });
        assert_eq!(seen.join().expect("a thread"), [cpu]);
    }

    #[test]
    fn unpinned_workers_are_free() {
        let allowed = cpus::usable();
        let runtime = build(1, &[]).expect("a runtime");
        let seen = runtime.block_on(async { tokio::spawn(async { cpus::usable() }).await.expect("a task") });
        assert_eq!(seen, allowed);
    }
}
