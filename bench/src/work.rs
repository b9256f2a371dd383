//! The work that every system does the same way: its handlers, and the count of what was handled.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// One count per thread, alone on its cache lines: its thread is the only writer.
#[repr(align(128))]
struct Slot(AtomicU64);

static SLOTS: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

thread_local! {
    static SLOT: Cell<Option<&'static Slot>> = const { Cell::new(None) };
}

/// Counts one request handled (in a server) or one reply received (in a load generator).
pub fn count_one() {
    let slot = SLOT.get().unwrap_or_else(register);
    // A load and a store, not a read-modify-write: nobody else writes here.
    slot.0.store(slot.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// What all threads of this process have counted so far.
pub fn total() -> u64 {
    let slots = SLOTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    slots.iter().map(|slot| slot.0.load(Ordering::Relaxed)).sum()
}

/// The handler of `Echo.echo`: counts, and hands back what came in.
pub fn echo<A, M>(action: A, msg: M) -> (A, M) {
    count_one();
    (action, msg)
}

/// The handler of `Echo.burn`: uses this much CPU on the thread it runs on. CPU time, not wall time: two handlers
/// that share a core must not both count the same millisecond.
pub fn burn(micros: u32) {
    count_one();
    let end = thread_cpu() + Duration::from_micros(u64::from(micros));
    while thread_cpu() < end {
        std::hint::spin_loop();
    }
}

fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::MAX, Duration::from)
}

#[cold]
fn register() -> &'static Slot {
    // Leaked: a count must outlive its thread, and a process starts few threads.
    let slot: &'static Slot = Box::leak(Box::new(Slot(AtomicU64::new(0))));
    SLOTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(slot);
    SLOT.set(Some(slot));
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_outlive_their_threads() {
        let before = total();
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(|| (0..1000).for_each(|_| count_one()))).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("a counting thread"));
        // Other tests of this process may count too.
        assert!(total() - before >= 4000);
    }

    #[test]
    fn burning_takes_cpu_time() {
        let start = thread_cpu();
        burn(2_000);
        assert!(thread_cpu() - start >= Duration::from_micros(2_000));
    }

    #[test]
    fn echo_gives_back() {
        assert_eq!(echo("a", 7), ("a", 7));
    }
}
