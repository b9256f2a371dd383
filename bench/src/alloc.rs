//! The allocator: mimalloc for every system alike, and a count that is off while anything is timed.
#![allow(unsafe_code, reason = "a global allocator can not be written without it")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mimalloc::MiMalloc;
use serde::{Deserialize, Serialize};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Allocations counted. A reallocation counts as one, with its new size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    /// How many.
    pub calls: u64,
    /// Bytes asked for.
    pub bytes: u64,
}

/// Starts to count from zero.
pub fn start() {
    CALLS.store(0, Ordering::Relaxed);
    BYTES.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::SeqCst);
}

/// Stops, and returns what was allocated since the start.
pub fn stop() -> Allocations {
    COUNTING.store(false, Ordering::SeqCst);
    Allocations { calls: CALLS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
}

struct Counting;

impl Counting {
    #[inline]
    fn note(bytes: usize) {
        // While timing this is one load of a line that no one writes, and a branch that is never taken.
        if COUNTING.load(Ordering::Relaxed) {
            CALLS.fetch_add(1, Ordering::Relaxed);
            BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

// SAFETY: every method hands its arguments unchanged to mimalloc, which fulfils the contract of `GlobalAlloc`; the
// count touches statics only and neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { MiMalloc.dealloc(ptr, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::note(new_size);
        // SAFETY: the caller's promise, passed on.
        unsafe { MiMalloc.realloc(ptr, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_when_asked() {
        start();
        let kept = vec![0_u8; 12_345];
        let counted = stop();
        assert!(counted.calls >= 1 && counted.bytes >= 12_345, "{counted:?}");
        drop(kept);
        let idle = std::hint::black_box(vec![1_u8; 100]);
        assert_eq!(stop(), counted);
        drop(idle);
    }
}
