//! What the clock, the load generator and the machine can do, before anything is compared.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::host::Host;
use super::round::{self, Load, nanos};
use crate::cli::settings::{Condition, Settings};
use crate::control::messages::{Answer, ClientOrder, LoadOrder, Task};
use crate::exit::Failure;
use crate::load::round::{Extent, LoadReport};
use crate::system::registry;
use crate::systems::noop::Turns;

const READS: u32 = 1_000_000;
const BATCHES: u32 = 50;
const ANSWER: Duration = Duration::from_secs(20);

/// The findings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The clock.
    pub clock: Clock,
    /// Calls a second of the generator over a system that does nothing, with a turn through tokio's queue a call.
    pub ceiling: f64,
    /// CPU that the generator uses for a call by itself, ns.
    pub generator_ns: f64,
    /// Calls a second over bare TCP.
    pub floor: f64,
}

/// The clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clock {
    /// Ns that a reading costs.
    pub cost_ns: f64,
    /// The smallest step that was seen, ns.
    pub step_ns: u64,
}

/// How long each part may take.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Load before each measurement.
    pub warmup: Duration,
    /// Each measurement.
    pub length: Duration,
}

impl Effort {
    /// In front of every run.
    pub const SHORT: Self = Self { warmup: Duration::from_millis(100), length: Duration::from_millis(300) };
    /// For `bench calibrate`.
    pub const LONG: Self = Self { warmup: Duration::from_millis(500), length: Duration::from_millis(1500) };
}

/// Calibrates under this condition.
///
/// # Errors
///
/// As a round.
pub fn run(
    host: &mut Host,
    condition: &Condition,
    settings: &Settings,
    effort: Effort,
) -> Result<Calibration, Failure> {
    let ceiling = generator(condition, settings, effort, Turns::Give)?.per_second();
    let alone = Condition { client_threads: 1, concurrency: 1, ..*condition };
    let by_itself = generator(&alone, settings, effort, Turns::Keep)?;
    let brief =
        Settings { warmup: effort.warmup, extent: Extent::Time(nanos(effort.length)), ..settings.clone() };
    let raw = registry::find("raw-tcp").ok_or_else(|| Failure::Internal("raw-tcp is missing".into()))?;
    let floor = round::run(host, raw, condition, &brief, false)?;
    Ok(Calibration {
        clock: clock(),
        ceiling,
        // CPU, not wall time: it does not depend on who else wanted the CPU just then.
        generator_ns: by_itself.usage.cpu_per_request(),
        floor: floor.load.per_second(),
    })
}

/// The generator over nothing.
fn generator(
    condition: &Condition,
    settings: &Settings,
    effort: Effort,
    turns: Turns,
) -> Result<LoadReport, Failure> {
    let mut load = Load::start(&ClientOrder {
        threads: condition.client_threads,
        cpus: if settings.split.pinned { settings.split.client.clone() } else { Vec::new() },
        task: Task::Noop(LoadOrder {
            system: turns.name().to_owned(),
            target: ([127, 0, 0, 1], 0).into(),
            callers: condition.concurrency,
            connections: 0,
            body: condition.body,
            seed: settings.seed,
            warmup_ns: nanos(effort.warmup),
            extent: Extent::Time(nanos(effort.length)),
            timeout_ns: nanos(settings.timeout),
            verify: settings.verify,
        }),
    })?;
    load.go()?;
    load.expect(&Answer::Opened, ANSWER)?;
    load.expect(&Answer::Closed, ANSWER)?;
    let report = load.report(ANSWER)?;
    load.stop()?;
    Ok(report)
}

/// The cheapest of several batches: others may have wanted the CPU during the rest.
fn clock() -> Clock {
    let mut cost_ns = f64::INFINITY;
    let mut step = Duration::MAX;
    for _ in 0..BATCHES {
        let began = Instant::now();
        let mut before = began;
        for _ in 0..READS / BATCHES {
            let now = Instant::now();
            if now > before {
                step = step.min(now - before);
            }
            before = now;
        }
        cost_ns = cost_ns.min(began.elapsed().as_nanos() as f64 / f64::from(READS / BATCHES));
    }
    Clock { cost_ns, step_ns: nanos(step) }
}
