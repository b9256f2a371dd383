//! Standard error while rounds run. The driver draws between rounds; during one it sleeps, unless a CPU is free for
//! it. Nothing of this runs in the processes that are measured.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::settings::{Condition, Machine, Progress, Settings};
use crate::drive::round::Round;
use crate::plan::Plan;
use crate::report::numbers::{fixed, ms, thousands, us};

const REDRAW: Duration = Duration::from_millis(250);
const REDRAWS_A_SECOND: u8 = 4;

/// Tells how far it is.
#[derive(Debug)]
pub struct Reporter {
    kind: Kind,
    verbose: bool,
    total: usize,
    done: usize,
    rounds: usize,
    expected: Duration,
    started: Instant,
    current: String,
}

#[derive(Debug)]
enum Kind {
    Bar(ProgressBar),
    Plain,
    None,
}

impl Reporter {
    /// For a plan.
    pub fn new(plan: &Plan, settings: &Settings, machine: &Machine) -> Self {
        let bar = match settings.output.progress {
            _ if settings.output.quiet => None,
            Progress::None => None,
            Progress::Bar => Some(true),
            Progress::Plain => Some(false),
            Progress::Auto => Some(std::io::stderr().is_terminal()),
        };
        let kind = match bar {
            None => Kind::None,
            Some(false) => Kind::Plain,
            Some(true) => Kind::Bar(self::bar(plan, settings.split.leaves_one_free(&machine.usable))),
        };
        Self {
            kind,
            verbose: settings.output.verbose > 0,
            total: plan.rounds(),
            done: 0,
            rounds: settings.rounds,
            expected: plan.expected,
            started: Instant::now(),
            current: String::new(),
        }
    }

    /// A round begins.
    pub fn begin(&mut self, block: usize, label: &str, condition: &Condition) {
        let Condition { concurrency, body, .. } = condition;
        self.current = format!("round {block}/{}  {label} c={concurrency} b={body}", self.rounds);
        if let Kind::Bar(bar) = &self.kind {
            bar.set_message(format!("{}  ETA {}", self.current, clock(self.left())));
        }
    }

    /// A round has ended.
    pub fn end(&mut self, round: &Round) {
        self.done += 1;
        let line = self.line(round);
        match &self.kind {
            Kind::None => {}
            Kind::Plain => eprintln!("{line}"),
            Kind::Bar(bar) => {
                bar.inc(1);
                if self.verbose {
                    bar.suspend(|| eprintln!("{line}"));
                }
            }
        }
    }

    /// All rounds have ended, or it was cut short.
    pub fn finish(&self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }

    fn line(&self, round: &Round) -> String {
        let p99 = round.load.latencies.unpack().map_or(f64::NAN, |latencies| latencies.quantile(0.99) as f64);
        let width = self.total.to_string().len();
        let mut line = format!(
            "[{:>width$}/{}] {}  {} req/s  p99 {} ms  err {}  ETA {}",
            self.done,
            self.total,
            self.current,
            thousands(round.load.per_second()),
            ms(p99),
            round.load.errors.total(),
            clock(self.left()),
        );
        if self.verbose {
            line.push_str(&format!(
                "  srv {} µs  cli {} µs  switches/req {}  fairness {}",
                us(round.server.cpu_per_request()),
                us(round.load.usage.cpu_per_request()),
                fixed(round.server.switches_per_request(), 3),
                fixed(round.load.fairness, 3),
            ));
        }
        line
    }

    /// What is left: by the plan at first, by what the rounds really took later.
    fn left(&self) -> Duration {
        let left = u32::try_from(self.total - self.done).unwrap_or(u32::MAX);
        let total = u32::try_from(self.total.max(1)).unwrap_or(u32::MAX);
        match u32::try_from(self.done) {
            Ok(done @ 1..) => self.started.elapsed() / done * left,
            _ => self.expected / total * left,
        }
    }
}

fn bar(plan: &Plan, cpu_free: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(
        Some(plan.rounds() as u64),
        ProgressDrawTarget::stderr_with_hz(REDRAWS_A_SECOND),
    );
    let style = ProgressStyle::with_template("[{pos}/{len}] ▕{bar:20}▏ {msg}").expect("a constant template");
    bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    if cpu_free {
        bar.enable_steady_tick(REDRAW);
    }
    bar
}

/// `1:05`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{round, settings};

    #[test]
    fn a_line_for_each_round() {
        let settings = settings();
        let plan = Plan::new(&settings);
        let machine = Machine { usable: vec![0, 1], cores: vec![vec![0], vec![1]] };
        let mut reporter = Reporter::new(&plan, &settings, &machine);
        reporter.kind = Kind::None;
        reporter.begin(1, "tonic", &settings.conditions[0]);
        reporter.end(&round(100_000.0));
        let line = reporter.line(&round(100_000.0));
        assert!(
            line.starts_with("[ 1/20] round 1/5  tonic c=10 b=1024  100,000 req/s  p99 0.110 ms  err 0  ETA"),
            "{line}"
        );
        reporter.verbose = true;
        assert!(reporter.line(&round(100_000.0)).contains("srv 9.00 µs  cli 7.00 µs"));
    }

    #[test]
    fn minutes_and_seconds() {
        assert_eq!(clock(Duration::from_secs(65)), "1:05");
    }
}
