//! `run`, `matrix` and `load`: measure, compare, print, save.

use std::net::SocketAddr;
use std::time::SystemTime;

use crate::analysis::comparison::{Analysis, analyse};
use crate::cli::settings::{Machine, Settings};
use crate::drive::blocks;
use crate::drive::calibration::{self, Calibration, Effort};
use crate::drive::host::Host;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::plan::Plan;
use crate::report::files::{self, Saved};
use crate::report::progress::Reporter;
use crate::report::result_line::ResultLine;
use crate::report::screen::{Paint, say, say_all};
use crate::report::{matrix, run as table};
use crate::stats::verdict::Verdict;

/// How the figures are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A table for each condition.
    Table,
    /// The same, and codec by transport.
    Matrix,
}

/// Measures on this machine.
///
/// # Errors
///
/// See [`Failure`].
pub fn run(settings: &Settings, machine: &Machine, command: &str, shape: Shape) -> Result<(), Failure> {
    measure(&mut Host::Here, settings, machine, command, shape)
}

/// Measures servers that a `bench serve` elsewhere starts.
///
/// # Errors
///
/// See [`Failure`].
pub fn remote(
    settings: &Settings,
    machine: &Machine,
    command: &str,
    target: SocketAddr,
    control: SocketAddr,
) -> Result<(), Failure> {
    measure(&mut Host::there(target, control)?, settings, machine, command, Shape::Table)
}

fn measure(
    host: &mut Host,
    settings: &Settings,
    machine: &Machine,
    command: &str,
    shape: Shape,
) -> Result<(), Failure> {
    let started = SystemTime::now();
    let plan = Plan::new(settings);
    let loud = settings.output.table && !settings.output.quiet;
    if loud || settings.dry_run {
        say(plan.line())?;
    }
    if settings.dry_run {
        return say_all(plan.blocks());
    }
    let environment = Environment { loopback: host.is_here(), ..Environment::read() };
    if loud {
        say(environment.line())?;
        if cfg!(debug_assertions) {
            say("DEBUG BUILD: NOT A MEASUREMENT")?;
        }
    }
    let calibration = match settings.conditions.first() {
        Some(condition) => Some(calibration::run(host, condition, settings, Effort::SHORT)?),
        None => None,
    };
    let mut reporter = Reporter::new(&plan, settings, machine);
    let (measured, failure) = blocks::run(host, &plan, settings, &mut reporter);
    reporter.finish();
    let analysis = analyse(&plan, &measured, settings)?;

    if analysis.conditions.is_empty() {
        return failure.map_or(Ok(()), Err);
    }
    let folder = files::folder(settings, started);
    let saved = Saved {
        settings,
        plan: &plan,
        analysis: &analysis,
        calibration: calibration.as_ref(),
        environment: &environment,
        command,
        started,
    };
    let written = files::save(&folder, &saved)?;
    if loud {
        print(&analysis, settings, calibration.as_ref(), shape)?;
    }
    let out = written.then(|| folder.display().to_string());
    for compared in &analysis.conditions {
        for place in compared.subjects() {
            say(ResultLine::new(compared, place, settings.confidence, out.as_deref()).to_string())?;
        }
    }
    let failures = [failure, invalid(&analysis), strict(&analysis, settings)];
    failures.into_iter().flatten().reduce(Failure::worse).map_or(Ok(()), Err)
}

fn print(
    analysis: &Analysis,
    settings: &Settings,
    calibration: Option<&Calibration>,
    shape: Shape,
) -> Result<(), Failure> {
    let paint = Paint::new(settings.output.color);
    for (place, compared) in analysis.conditions.iter().enumerate() {
        // The calibration was made under the first condition only.
        let calibration = calibration.filter(|_| place == 0);
        say("")?;
        say_all(table::report(compared, settings, calibration, paint))?;
    }
    say("")?;
    if shape == Shape::Matrix {
        say_all(matrix::report(analysis, settings))?;
    }
    Ok(())
}

fn invalid(analysis: &Analysis) -> Option<Failure> {
    let cells = analysis.conditions.iter().flat_map(|compared| &compared.cells);
    let void: Vec<String> = cells
        .filter(|cell| cell.invalid())
        .map(|cell| {
            let flags: Vec<&str> =
                cell.flags.iter().filter(|flag| flag.voids()).map(|flag| flag.id()).collect();
            format!("{} c={} ({})", cell.participant.label, cell.condition.concurrency, flags.join(" "))
        })
        .collect();
    (!void.is_empty()).then(|| Failure::Invalid(format!("invalid measurement: {}", void.join(", "))))
}

fn strict(analysis: &Analysis, settings: &Settings) -> Option<Failure> {
    if !settings.strict {
        return None;
    }
    let flagged =
        analysis.conditions.iter().flat_map(|compared| &compared.cells).any(|cell| !cell.flags.is_empty());
    let open = analysis
        .conditions
        .iter()
        .flat_map(|compared| &compared.comparisons)
        .any(|comparison| comparison.verdict == Verdict::Inconclusive);
    match (flagged, open) {
        (true, _) => Some(Failure::Strict("--strict: a validity flag is raised".to_owned())),
        (_, true) => Some(Failure::Strict("--strict: a verdict is inconclusive".to_owned())),
        _ => None,
    }
}
