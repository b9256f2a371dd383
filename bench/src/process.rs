//! What this process has used so far, read from the system.

use std::fs;
use std::time::Duration;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeVal;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::work;

/// A reading of this process. Two of them make a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Monotonic clock, ns.
    pub at_ns: u64,
    /// Requests handled (server) or replies received (client).
    pub requests: u64,
    /// CPU in user mode, ns.
    pub user_ns: u64,
    /// CPU in the kernel, ns.
    pub system_ns: u64,
    /// Context switches because a thread had to wait.
    pub voluntary: u64,
    /// Context switches because something else wanted the CPU.
    pub involuntary: u64,
    /// Resident memory, bytes.
    pub resident: u64,
    /// Peak of resident memory, bytes.
    pub peak: u64,
    /// Connections accepted (server).
    pub accepted: u64,
}

impl Mark {
    /// Reads everything now. `accepted` is filled in by a server.
    pub fn now() -> Self {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
        let (resident, peak) = memory();
        Self {
            at_ns: monotonic_ns(),
            requests: work::total(),
            user_ns: usage.map_or(0, |usage| ns(usage.user_time())),
            system_ns: usage.map_or(0, |usage| ns(usage.system_time())),
            voluntary: usage.map_or(0, |usage| usage.voluntary_context_switches().try_into().unwrap_or(0)),
            involuntary: usage
                .map_or(0, |usage| usage.involuntary_context_switches().try_into().unwrap_or(0)),
            resident,
            peak,
            accepted: 0,
        }
    }

    /// CPU used, user and kernel, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// What happened between two marks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// At its start.
    pub open: Mark,
    /// At its end.
    pub close: Mark,
}

impl Window {
    /// Its length, ns.
    pub fn length_ns(&self) -> u64 {
        self.close.at_ns.saturating_sub(self.open.at_ns)
    }

    /// Requests in it.
    pub fn requests(&self) -> u64 {
        self.close.requests.saturating_sub(self.open.requests)
    }

    /// CPU used in it, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.close.cpu_ns().saturating_sub(self.open.cpu_ns())
    }

    /// CPU per request, ns; NaN without requests.
    pub fn cpu_per_request(&self) -> f64 {
        crate::stats::sanity::cpu_per_request(self.cpu_ns(), self.requests())
    }

    /// Share of `cpus` CPUs that was busy for this process, 0 to 1.
    pub fn busy(&self, cpus: usize) -> f64 {
        self.cpu_ns() as f64 / (self.length_ns() as f64 * cpus as f64)
    }

    /// Context switches per request, of both kinds.
    pub fn switches_per_request(&self) -> f64 {
        let of = |mark: &Mark| mark.voluntary + mark.involuntary;
        of(&self.close).saturating_sub(of(&self.open)) as f64 / self.requests() as f64
    }
}

/// The monotonic clock, ns. The same for all processes of a machine.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Raises the soft limit of open files to the hard one if `needed` asks for it.
///
/// # Errors
///
/// The hard limit, if even that is too low.
pub fn allow_files(needed: u64) -> Result<(), u64> {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return Ok(()) };
    if soft >= needed {
        return Ok(());
    }
    if hard < needed {
        return Err(hard);
    }
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(|_| soft)
}

/// Sets the peak of resident memory back to what is resident now. Best effort.
pub fn reset_peak() {
    fs::write("/proc/self/clear_refs", "5").ok();
}

/// Resident and peak memory, bytes; 0 where `/proc` does not tell.
fn memory() -> (u64, u64) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim_start_matches(':').trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    };
    (field("VmRSS").unwrap_or(0), field("VmHWM").unwrap_or(0))
}

fn ns(time: TimeVal) -> u64 {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec()).unwrap_or(0);
    seconds * 1_000_000_000 + micros * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burning_shows_in_the_window() {
        let open = Mark::now();
        work::burn(3_000);
        let window = Window { open, close: Mark::now() };
        assert!(window.cpu_ns() >= 2_000_000, "{window:?}");
        assert!(window.requests() >= 1);
        assert!(window.length_ns() >= 3_000_000);
        assert!(window.busy(1) > 0.0);
        assert!(window.open.resident > 0 && window.open.peak >= window.open.resident);
    }

    #[test]
    fn more_files_than_allowed() {
        assert_eq!(allow_files(8), Ok(()));
        assert!(allow_files(u64::MAX).is_err());
    }
}
