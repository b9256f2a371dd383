//! `busy-handlers`: handlers that burn CPU, sixteen at once on one connection.
//!
//! Two questions. Do they use all cores, that is, how long do they take together against one after the other? And
//! how long do the trivial calls of another, quiet connection wait meanwhile?

use std::time::Duration;

use crate::busy::{BusyOrder, BusyReport};
use crate::cli::settings::Settings;
use crate::control::messages::{Answer, ClientOrder, ServerOrder, Task};
use crate::cpus;
use crate::drive::host::Host;
use crate::drive::noise::{CpuTimes, Noise};
use crate::drive::round::{Load, nanos};
use crate::exit::Failure;
use crate::plan::orders;
use crate::process::Window;
use crate::report::layout::{Column, PAGE, lines};
use crate::report::numbers::{fixed, ms, ratio, ratio_ends, ratio_interval};
use crate::report::screen::{say, say_all};
use crate::stats::interval::PairedRatio;
use crate::stats::latency::Latencies;
use crate::stats::rng::SplitMix64;
use crate::system::Dispatch;
use crate::system::registry::{self, Entry};

const BURNERS: usize = 16;
const BURN_MICROS: u32 = 5_000;
const THREADS: usize = 2;
const WAVES: usize = 4;
const WATCH: Duration = Duration::from_millis(1000);
const PROBE_EVERY: Duration = Duration::from_millis(1);
/// Together, the burners shall take at most this share of their serial time.
const LIMIT: f64 = 0.65;
/// The longest that a wave and the connecting may take.
const ANSWER: Duration = Duration::from_secs(60);

/// What a server was, and how it ran its handlers.
#[derive(Debug, Clone)]
struct Contestant {
    entry: &'static Entry,
    dispatch: Dispatch,
}

/// What all rounds of one of them came to.
#[derive(Debug)]
struct Outcome {
    contestant: Contestant,
    share: PairedRatio,
    serial_ns: f64,
    together_ns: f64,
    idle: Latencies,
    busy: Latencies,
    busy_p50: Vec<f64>,
    busy_p99: Vec<f64>,
    unsent: u64,
    /// Share of all CPUs that went to other processes, mean over rounds.
    foreign: f64,
}

/// Runs the test for the chosen systems and tonic.
///
/// # Errors
///
/// See [`Failure`].
pub fn run(settings: &Settings) -> Result<(), Failure> {
    let contestants = contestants(settings)?;
    let orders = orders(contestants.len(), settings.rounds, &mut SplitMix64::new(settings.seed));
    if !settings.output.quiet {
        say(format!(
            "{BURNERS} handlers at once on one connection, {} ms CPU each, server with {THREADS} threads, not pinned; \
             a probe every {} ms on a second connection; {} rounds",
            BURN_MICROS / 1000,
            PROBE_EVERY.as_millis(),
            settings.rounds,
        ))?;
    }
    if settings.dry_run {
        return say_all(orders.iter().map(|order| {
            order.iter().map(|&place| contestants[place].label()).collect::<Vec<_>>().join(", ")
        }));
    }
    let mut reports: Vec<Vec<(BusyReport, Option<Noise>)>> = vec![Vec::new(); contestants.len()];
    for order in &orders {
        for &place in order {
            reports[place].push(once(&contestants[place], settings)?);
        }
    }
    let outcomes = contestants
        .into_iter()
        .zip(&reports)
        .map(|(contestant, reports)| outcome(contestant, reports))
        .collect::<Result<Vec<_>, _>>()?;
    let rival = outcomes.iter().position(|outcome| outcome.contestant.entry.name == "tonic");
    if !settings.output.quiet {
        say_all(lines(&columns(&outcomes, rival, settings.confidence), PAGE))?;
        say(format!(
            "× serial: wall time together / one after the other; {LIMIT} or less shows that both cores work"
        ))?;
    }
    say_all(
        outcomes.iter().map(|outcome| result_line(outcome, rival.map(|rival| &outcomes[rival]), settings)),
    )
}

impl Contestant {
    fn label(&self) -> String {
        match self.entry.ours {
            true => format!("{} ({})", self.entry.name, self.dispatch.name()),
            false => self.entry.name.to_owned(),
        }
    }
}

/// Ours with each way to run handlers, then tonic with its only one.
fn contestants(settings: &Settings) -> Result<Vec<Contestant>, Failure> {
    let mut all = Vec::new();
    for &entry in settings.systems.iter().filter(|entry| entry.busy.is_some()) {
        let ways: &[Dispatch] =
            if entry.ours { &[Dispatch::Adaptive, Dispatch::Blocking] } else { &[Dispatch::Adaptive] };
        all.extend(ways.iter().map(|&dispatch| Contestant { entry, dispatch }));
    }
    if all.is_empty() {
        let known: Vec<&str> =
            registry::all().iter().filter(|entry| entry.busy.is_some()).map(|entry| entry.name).collect();
        let hint = format!("systems with one: {}", known.join(" "));
        return Err(Failure::usage("no system with a handler that burns CPU", hint));
    }
    if let Some(tonic) = registry::find("tonic")
        && all.iter().all(|contestant| contestant.entry.name != tonic.name)
    {
        all.push(Contestant { entry: tonic, dispatch: Dispatch::default() });
    }
    Ok(all)
}

/// One round: fresh processes, both free to use every CPU.
fn once(contestant: &Contestant, settings: &Settings) -> Result<(BusyReport, Option<Noise>), Failure> {
    let mut host = Host::Here;
    let mut server = host.start(ServerOrder {
        system: contestant.entry.name.to_owned(),
        addr: ([127, 0, 0, 1], 0).into(),
        threads: THREADS,
        cpus: Vec::new(),
        body: 1 << 10,
        dispatch: contestant.dispatch,
    })?;
    let mut load = Load::start(&ClientOrder {
        threads: THREADS,
        cpus: Vec::new(),
        task: Task::Busy(BusyOrder {
            system: contestant.entry.name.to_owned(),
            target: server.addr,
            burners: BURNERS,
            micros: BURN_MICROS,
            waves: WAVES,
            watch_ns: nanos(WATCH),
            probe_every_ns: nanos(PROBE_EVERY),
            timeout_ns: nanos(settings.timeout),
        }),
    })?;
    let cpus = cpus::usable();
    let open = server.mark()?;
    let before = CpuTimes::of(&cpus);
    load.go()?;
    match load.answer(ANSWER)? {
        Answer::Busy(report) => {
            let used = Window { open, close: server.mark()? };
            let noise = CpuTimes::of(&cpus).noise_since(&before, report.usage.cpu_ns() + used.cpu_ns());
            load.stop()?;
            Ok((*report, noise))
        }
        other => Err(Failure::Internal(format!("load generator: unexpected answer: {other:?}"))),
    }
}

fn outcome(contestant: Contestant, rounds: &[(BusyReport, Option<Noise>)]) -> Result<Outcome, Failure> {
    let reports: Vec<&BusyReport> = rounds.iter().map(|(report, _)| report).collect();
    let foreign: Vec<f64> = rounds.iter().filter_map(|(_, noise)| Some(noise.as_ref()?.foreign)).collect();
    let mean = |values: &[u64]| values.iter().map(|&ns| ns as f64).sum::<f64>() / values.len() as f64;
    // The round is the independent unit, so its waves are averaged first.
    let serial: Vec<f64> = reports.iter().map(|report| mean(&report.serial_ns)).collect();
    let together: Vec<f64> = reports.iter().map(|report| mean(&report.together_ns)).collect();
    let share = PairedRatio::new(&together, &serial)
        .ok_or_else(|| Failure::Internal(format!("{}: nothing was burnt", contestant.label())))?;
    let (mut idle, mut busy) = (Latencies::new(), Latencies::new());
    let (mut busy_p50, mut busy_p99) = (Vec::new(), Vec::new());
    for report in &reports {
        idle.merge(&report.idle.unpack().map_err(Failure::Internal)?);
        let one = report.busy.unpack().map_err(Failure::Internal)?;
        busy_p50.push(one.quantile(0.5) as f64);
        busy_p99.push(one.quantile(0.99) as f64);
        busy.merge(&one);
    }
    let over_rounds = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Ok(Outcome {
        share,
        serial_ns: over_rounds(&serial),
        together_ns: over_rounds(&together),
        idle,
        busy,
        busy_p50,
        busy_p99,
        unsent: reports.iter().map(|report| report.unsent).sum(),
        foreign: over_rounds(&foreign),
        contestant,
    })
}

fn columns(outcomes: &[Outcome], rival: Option<usize>, confidence: f64) -> Vec<Column> {
    let each = |of: &dyn Fn(&Outcome) -> String| outcomes.iter().map(of).collect::<Vec<_>>();
    let mut columns = vec![
        Column::left("system", each(&|outcome| outcome.contestant.label())),
        Column::right("serial ms", each(&|outcome| ms(outcome.serial_ns))),
        Column::right("together ms", each(&|outcome| ms(outcome.together_ns))),
        Column::left(
            "× serial",
            each(&|outcome| {
                ratio_interval(outcome.share.value(), outcome.share.interval(confidence).as_ref())
            }),
        ),
        Column::right("idle p50 ms", each(&|outcome| ms(outcome.idle.quantile(0.5) as f64))),
        Column::right("idle p99", each(&|outcome| ms(outcome.idle.quantile(0.99) as f64))),
        Column::right("busy p50", each(&|outcome| ms(outcome.busy.quantile(0.5) as f64))),
        Column::right("busy p99", each(&|outcome| ms(outcome.busy.quantile(0.99) as f64))),
        Column::right("unsent", each(&|outcome| outcome.unsent.to_string())),
        Column::right("others %", each(&|outcome| fixed(100.0 * outcome.foreign, 1))),
    ];
    if let Some(rival) = rival {
        let against = |of: fn(&Outcome) -> &Vec<f64>| {
            let ratio = |(place, outcome)| match place == rival {
                true => "1".to_owned(),
                false => wait_ratio(of(outcome), of(&outcomes[rival]), confidence),
            };
            outcomes.iter().enumerate().map(ratio).collect::<Vec<_>>()
        };
        columns.push(Column::left("× tonic busy p50", against(|outcome| &outcome.busy_p50)));
        columns.push(Column::left("× tonic busy p99", against(|outcome| &outcome.busy_p99)));
    }
    columns
}

fn wait_ratio(ours: &[f64], theirs: &[f64], confidence: f64) -> String {
    PairedRatio::new(ours, theirs)
        .map_or_else(String::new, |pairs| ratio_interval(pairs.value(), pairs.interval(confidence).as_ref()))
}

fn result_line(outcome: &Outcome, rival: Option<&Outcome>, settings: &Settings) -> String {
    let bounded = |pairs: &PairedRatio| match pairs.interval(settings.confidence) {
        Some(interval) => {
            let (low, high) = ratio_ends(pairs.value(), &interval);
            format!("{}[{low},{high}]", ratio(pairs.value()))
        }
        None => format!("{}[-,-]", ratio(pairs.value())),
    };
    let against = |of: fn(&Outcome) -> &Vec<f64>| {
        let pairs = rival.and_then(|rival| PairedRatio::new(of(outcome), of(rival)));
        pairs.as_ref().map_or("-".to_owned(), bounded)
    };
    format!(
        "RESULT {} test=busy-handlers dispatch={} serial_ms={} together_ms={} share={} limit={LIMIT} within={} \
         busy_p50_ms={} busy_p99_ms={} unsent={} foreign={} vs={} p50_ratio={} p99_ratio={} confidence={}",
        outcome.contestant.entry.name,
        outcome.contestant.dispatch.name(),
        fixed(outcome.serial_ns / 1e6, 2),
        fixed(outcome.together_ns / 1e6, 2),
        bounded(&outcome.share),
        if outcome.share.value() <= LIMIT { "yes" } else { "no" },
        fixed(outcome.busy.quantile(0.5) as f64 / 1e6, 3),
        fixed(outcome.busy.quantile(0.99) as f64 / 1e6, 3),
        outcome.unsent,
        fixed(outcome.foreign, 3),
        rival.map_or("none", |rival| rival.contestant.entry.name),
        against(|outcome| &outcome.busy_p50),
        against(|outcome| &outcome.busy_p99),
        settings.confidence,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::settings;
    use crate::report::result_line::ResultLine;

    fn sample(factor: f64) -> Outcome {
        let mut latencies = Latencies::new();
        (1..=1000_u64).for_each(|i| latencies.record(i * 1_000));
        Outcome {
            contestant: Contestant {
                entry: registry::find("tonic").expect("tonic"),
                dispatch: Dispatch::Adaptive,
            },
            share: PairedRatio::new(&[42e6, 43e6], &[82e6, 82e6]).expect("positive"),
            serial_ns: 82e6,
            together_ns: 42.5e6,
            idle: latencies.clone(),
            busy: latencies,
            busy_p50: vec![5e5 * factor, 5.1e5 * factor],
            busy_p99: vec![9.9e5 * factor, 9.8e5 * factor],
            unsent: 0,
            foreign: 0.0,
        }
    }

    #[test]
    fn the_line_can_be_read() {
        let line = result_line(&sample(0.5), Some(&sample(1.0)), &settings());
        let line: ResultLine = line.parse().expect("a RESULT line");
        assert_eq!(line.system, "tonic");
        assert_eq!(line.get("share").map(|share| &share[..6]), Some("0.518["));
        assert_eq!(line.get("within"), Some("yes"));
        assert!(line.get("p99_ratio").is_some_and(|ratio| ratio.starts_with("0.500[")), "{line}");
    }

    #[test]
    fn the_table_fits_the_page() {
        let outcomes = [sample(0.5), sample(1.0)];
        let lines = lines(&columns(&outcomes, Some(1), 0.99), PAGE);
        assert!(lines.iter().all(|line| line.chars().count() <= PAGE), "{lines:#?}");
        assert!(lines[1].starts_with("tonic      82.000       42.500  0.518 ["), "{}", lines[1]);
    }

    #[test]
    fn tonic_is_always_there_to_compare_with() {
        let mut settings = settings();
        assert_eq!(contestants(&settings).unwrap_err().code(), 2);
        settings.systems = vec![registry::find("tonic-tuned").expect("a system")];
        let labels: Vec<String> =
            contestants(&settings).expect("two").iter().map(Contestant::label).collect();
        assert_eq!(labels, ["tonic-tuned", "tonic"]);
    }
}
