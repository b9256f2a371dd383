//! The machine and the build, for the report.

use std::fs;

use serde::Serialize;

use crate::cpus;
use crate::system::registry;

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Environment {
    /// Model of the CPU.
    pub cpu: String,
    /// CPUs that this process may use.
    pub usable: Vec<usize>,
    /// Cores behind them.
    pub cores: usize,
    /// Whether two of them share a core.
    pub smt: bool,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Kernel.
    pub kernel: String,
    /// Limit of CPU time by cgroup, as the system writes it.
    pub cgroup_quota: Option<String>,
    /// Memory, bytes.
    pub memory: u64,
    /// Servers and clients are on one machine, so no network card took part.
    pub loopback: bool,
}

impl Environment {
    /// This machine.
    pub fn read() -> Self {
        let usable = cpus::usable();
        let cores = cpus::cores(&usable).len();
        Self {
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            smt: cores < usable.len(),
            usable,
            cores,
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            kernel: line("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned()),
            cgroup_quota: line("/sys/fs/cgroup/cpu.max"),
            memory: memory().unwrap_or(0),
            loopback: true,
        }
    }

    /// In a few words.
    pub fn line(&self) -> String {
        let smt = if self.smt { "SMT" } else { "no SMT" };
        let governor = self.governor.as_deref().unwrap_or("unknown");
        let gib = self.memory >> 30;
        let quota =
            self.cgroup_quota.as_deref().map_or("none", |quota| quota.split(' ').next().unwrap_or(quota));
        format!(
            "{} · CPUs {} ({} cores, {smt}) · governor {governor} · Linux {} · {gib} GiB · cgroup quota {quota}",
            self.cpu,
            cpus::list(&self.usable),
            self.cores,
            self.kernel,
        )
    }
}

/// How this program was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Build {
    /// Optimisation level.
    pub opt_level: &'static str,
    /// Link-time optimisation.
    pub lto: &'static str,
    /// Codegen units.
    pub codegen_units: &'static str,
    /// Target.
    pub target: &'static str,
    /// CPU it was compiled for.
    pub target_cpu: &'static str,
    /// Compiler.
    pub rustc: &'static str,
    /// Allocator.
    pub allocator: &'static str,
    /// Whether debug assertions are on, which voids every figure.
    pub debug_assertions: bool,
}

/// This build.
pub fn build() -> Build {
    Build {
        opt_level: env!("BENCH_OPT_LEVEL"),
        lto: env!("BENCH_LTO"),
        codegen_units: env!("BENCH_CODEGEN_UNITS"),
        target: env!("BENCH_TARGET"),
        target_cpu: env!("BENCH_TARGET_CPU"),
        rustc: env!("BENCH_RUSTC"),
        allocator: "mimalloc",
        debug_assertions: cfg!(debug_assertions),
    }
}

impl Build {
    /// In a few words.
    pub fn line(&self) -> String {
        format!(
            "bench {} · opt-level {}, lto {}, codegen-units {}, {} for {} · {} · {}",
            env!("CARGO_PKG_VERSION"),
            self.opt_level,
            self.lto,
            self.codegen_units,
            self.target,
            self.target_cpu,
            self.rustc,
            self.allocator,
        )
    }
}

/// `bench list`.
pub fn list() -> Vec<String> {
    let mut lines = vec![Environment::read().line(), build().line(), String::new()];
    for (title, ours, paired) in [
        ("codec/transport pairs", true, true),
        ("other forms of them, by --system", true, false),
        ("baselines", false, false),
    ] {
        lines.push(format!("{title}:"));
        let mut entries = registry::all()
            .iter()
            .filter(|entry| entry.ours == ours && entry.pair.is_some() == paired)
            .peekable();
        if entries.peek().is_none() {
            lines.push("  none in this build".to_owned());
        }
        for entry in entries {
            lines.push(format!("  {:<21} {:<8} {}", entry.name, (entry.version)(), (entry.describe)()));
        }
    }
    lines.push(String::new());
    lines.push("methods: echo (run, matrix, load), burn (busy-handlers)".to_owned());
    lines
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The value of the first `name : value` line.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))?.1;
    Some(value.trim().to_owned())
}

fn memory() -> Option<u64> {
    let kib: u64 = field("/proc/meminfo", "MemTotal")?.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_and_build() {
        let environment = Environment::read();
        assert!(environment.memory > 0 && environment.cores > 0);
        assert!(environment.line().contains("Linux"));
        let build = build();
        assert!(build.rustc.starts_with("rustc "), "{build:?}");
        assert!(!build.lto.is_empty() && !build.codegen_units.is_empty());
    }

    #[test]
    fn the_list_names_every_system() {
        let text = list().join("\n");
        assert!(registry::all().iter().all(|entry| text.contains(entry.name)));
    }
}
