//! `calibrate`: what the clock, the generator and the machine can do, and how much two equal systems differ.

use super::measure::{self, Shape};
use crate::analysis::cell::Metric;
use crate::analysis::comparison::analyse;
use crate::cli::settings::{Machine, Settings};
use crate::drive::blocks;
use crate::drive::calibration::{self, Effort};
use crate::drive::host::Host;
use crate::environment::{self, Environment};
use crate::exit::Failure;
use crate::plan::Plan;
use crate::report::numbers::{fixed, level, thousands};
use crate::report::progress::Reporter;
use crate::report::screen::{say, say_all};
use crate::system::registry;

/// A reading that costs more than this is worth a word.
const DEAR_CLOCK_NS: f64 = 100.0;

/// Runs it under every condition of the settings.
///
/// # Errors
///
/// See [`Failure`].
pub fn run(settings: &Settings, machine: &Machine, command: &str) -> Result<(), Failure> {
    if settings.dry_run {
        return measure::run(settings, machine, command, Shape::Table);
    }
    say(Environment::read().line())?;
    say(environment::build().line())?;
    for condition in &settings.conditions {
        let found = calibration::run(&mut Host::Here, condition, settings, Effort::LONG)?;
        let dear = if found.clock.cost_ns > DEAR_CLOCK_NS { "  (dear: more than 100 ns)" } else { "" };
        say("")?;
        say_all([
            format!("c={} b={} · {}", condition.concurrency, condition.body, settings.split),
            format!(
                "clock            {} ns a reading, step {} ns{dear}",
                fixed(found.clock.cost_ns, 1),
                found.clock.step_ns
            ),
            format!("generator        {} ns a call by itself", fixed(found.generator_ns, 1)),
            format!(
                "generator, no-op {} calls/s with {} clients taking turns",
                thousands(found.ceiling),
                condition.concurrency
            ),
            format!("raw TCP          {} calls/s (floor)", thousands(found.floor)),
        ])?;
    }
    noise_floor(settings, machine)
}

/// The first baseline against itself.
fn noise_floor(settings: &Settings, machine: &Machine) -> Result<(), Failure> {
    let entry = settings.baselines.first().copied().or_else(|| registry::find("tonic"));
    let Some(entry) = entry else { return Ok(()) };
    let twice =
        Settings { systems: Vec::new(), baselines: vec![entry], aa: true, allocs: false, ..settings.clone() };
    let plan = Plan::new(&twice);
    let mut reporter = Reporter::new(&plan, &twice, machine);
    let (measured, failure) = blocks::run(&mut Host::Here, &plan, &twice, &mut reporter);
    reporter.finish();
    if let Some(failure) = failure {
        return Err(failure);
    }
    say("")?;
    for compared in &analyse(&plan, &measured, &twice)?.conditions {
        let ratio = compared.comparisons.iter().find_map(|comparison| comparison.ratio(Metric::Tps));
        let value = ratio.map_or(f64::NAN, |ratio| ratio.value);
        let floor = compared.floor.unwrap_or(f64::NAN);
        say(format!(
            "A/A {} c={} b={}  ratio {} ± {} % ({}, {} rounds)",
            entry.name,
            compared.condition.concurrency,
            compared.condition.body,
            fixed(value, 3),
            fixed(floor * 100.0, 1),
            level(settings.confidence),
            settings.rounds,
        ))?;
    }
    Ok(())
}
