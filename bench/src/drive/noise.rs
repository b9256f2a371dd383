//! What else ran on the measured CPUs during a window.

use std::fs;

use serde::Serialize;

/// Length of a tick of `/proc/stat`, ns: the kernel shows it in hundredths of a second on every architecture.
const TICK_NS: u64 = 10_000_000;

/// Times of a set of CPUs so far, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Running processes, or serving interrupts, but for soft ones: those are billed to whoever runs.
    busy: u64,
    /// Taken by the hypervisor.
    steal: u64,
    /// All of it, idle too.
    total: u64,
}

/// Shares of the CPUs' time in a window, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Noise {
    /// Used by processes that are not ours.
    pub foreign: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
}

impl CpuTimes {
    /// Of these CPUs, now. All zero where the system does not tell.
    pub fn of(cpus: &[usize]) -> Self {
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default(), cpus)
    }

    /// The noise since `earlier`, during which our own processes used `own_ns`; `None` without a tick between them.
    pub fn noise_since(&self, earlier: &Self, own_ns: u64) -> Option<Noise> {
        let total = self.total.checked_sub(earlier.total).filter(|total| *total > 0)? as f64;
        let busy = self.busy.saturating_sub(earlier.busy) as f64;
        let own = own_ns as f64 / TICK_NS as f64;
        let steal = self.steal.saturating_sub(earlier.steal) as f64;
        Some(Noise { foreign: (busy - own).max(0.0) / total, steal: steal / total })
    }

    fn parse(text: &str, cpus: &[usize]) -> Self {
        let mut times = Self::default();
        for line in text.lines() {
            let Some((cpu, rest)) = line.strip_prefix("cpu").and_then(|line| line.split_once(' ')) else {
                continue;
            };
            if !cpu.parse().is_ok_and(|cpu: usize| cpus.contains(&cpu)) {
                continue;
            }
            let ticks: Vec<u64> = rest.split_whitespace().map_while(|word| word.parse().ok()).collect();
            let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else { continue };
            let busy = user + nice + system + irq;
            times.busy += busy;
            times.steal += steal;
            times.total += busy + idle + iowait + softirq + steal;
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: &str =
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 0 50 800 0 0 20 0 0 0\ncpu1 0 0 0 900 0 0 0 0 0 0\n";
    const LATER: &str =
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 170 0 70 800 0 0 28 2 0 0\ncpu1 50 0 0 950 0 0 0 0 0 0\nintr 5\n";

    #[test]
    fn what_is_not_ours_is_foreign() {
        let of = |cpus: &[usize]| (CpuTimes::parse(EARLIER, cpus), CpuTimes::parse(LATER, cpus));
        let (earlier, later) = of(&[0]);
        // 90 ticks of 100 were busy, 60 of them ours.
        let noise = later.noise_since(&earlier, 600_000_000).expect("ticks");
        assert!((noise.foreign - 0.30).abs() < 1e-9 && (noise.steal - 0.02).abs() < 1e-9, "{noise:?}");
        let (earlier, later) = of(&[0, 1]);
        let noise = later.noise_since(&earlier, 5_000_000_000).expect("ticks");
        assert!(noise.foreign.abs() < 1e-9 && (noise.steal - 0.01).abs() < 1e-9, "{noise:?}");
        assert_eq!(earlier.noise_since(&earlier, 0), None);
    }

    #[test]
    fn this_machine_tells() {
        assert!(CpuTimes::of(&crate::cpus::usable()).total > 0);
    }
}
