//! What will be measured, in which order, fixed before the first round.

use std::time::Duration;

use crate::cli::settings::{Condition, Settings};
use crate::load::round::Extent;
use crate::stats::rng::SplitMix64;
use crate::system::registry::Entry;

/// Processes to start, connect and end, beside the round itself.
const ROUND_OVERHEAD: Duration = Duration::from_millis(120);
/// Clock, generator and floor.
const CALIBRATION: Duration = Duration::from_millis(2500);

/// Why a system takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It is what is measured.
    Subject,
    /// It is compared with.
    Baseline,
    /// It is the first baseline once more, to show the noise.
    Again,
}

/// A system in a comparison.
#[derive(Debug, Clone)]
pub struct Participant {
    /// As printed.
    pub label: String,
    /// The system.
    pub entry: &'static Entry,
    /// Why it takes part.
    pub role: Role,
}

/// One block: every participant once, in this order.
pub type Order = Vec<usize>;

/// The plan.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Who takes part.
    pub participants: Vec<Participant>,
    /// Conditions, and under each the order of every block.
    pub conditions: Vec<(Condition, Vec<Order>)>,
    /// How long it will take.
    pub expected: Duration,
    line: String,
}

impl Plan {
    /// From the settings. The same settings give the same plan.
    pub fn new(settings: &Settings) -> Self {
        let participants = participants(settings);
        let mut rng = SplitMix64::new(settings.seed);
        let conditions: Vec<(Condition, Vec<Order>)> = settings
            .conditions
            .iter()
            .map(|&condition| (condition, orders(participants.len(), settings.rounds, &mut rng)))
            .collect();
        let length = match settings.extent {
            Extent::Time(ns) => Duration::from_nanos(ns),
            // Unknown before it is measured; a guess that suits a machine of two CPUs.
            Extent::Requests(requests) => Duration::from_micros(requests.saturating_mul(10)),
        };
        let round = settings.warmup + length + ROUND_OVERHEAD;
        let rounds =
            u32::try_from(participants.len() * settings.rounds * conditions.len()).unwrap_or(u32::MAX);
        let expected = CALIBRATION + round * rounds;
        let line = line(settings, &participants, conditions.len(), expected);
        Self { participants, conditions, expected, line }
    }

    /// The plan in one line.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Every block, one a line, for `--dry-run`.
    pub fn blocks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (condition, orders) in &self.conditions {
            for (block, order) in orders.iter().enumerate() {
                let names: Vec<&str> =
                    order.iter().map(|&place| self.participants[place].label.as_str()).collect();
                let Condition { concurrency, body, .. } = condition;
                lines.push(format!("c={concurrency} b={body} round {}: {}", block + 1, names.join(", ")));
            }
        }
        lines
    }

    /// Rounds in all.
    pub fn rounds(&self) -> usize {
        self.conditions.iter().flat_map(|(_, orders)| orders).map(Vec::len).sum()
    }
}

fn participants(settings: &Settings) -> Vec<Participant> {
    let with = |role| move |entry: &&'static Entry| Participant { label: entry.name.to_owned(), entry, role };
    let mut all: Vec<Participant> = settings.systems.iter().map(with(Role::Subject)).collect();
    let mut baselines = settings.baselines.iter().map(with(Role::Baseline));
    if let Some(first) = baselines.next() {
        let again =
            Participant { label: format!("{} (A/A)", first.label), entry: first.entry, role: Role::Again };
        all.push(first);
        all.extend(settings.aa.then_some(again));
    }
    all.extend(baselines);
    all
}

/// The order of each block. Blocks come in pairs of which the second mirrors the first, so that a linear drift of the
/// machine cancels; the first of a pair is shuffled, but two participants simply take turns.
pub fn orders(participants: usize, rounds: usize, rng: &mut SplitMix64) -> Vec<Order> {
    let mut orders: Vec<Order> = Vec::with_capacity(rounds + 1);
    while orders.len() < rounds {
        let mut order: Order = (0..participants).collect();
        if participants > 2 {
            rng.shuffle(&mut order);
        }
        let mirrored = order.iter().rev().copied().collect();
        orders.push(order);
        orders.push(mirrored);
    }
    orders.truncate(rounds);
    orders
}

fn line(settings: &Settings, participants: &[Participant], conditions: usize, expected: Duration) -> String {
    let names: Vec<String> = participants
        .iter()
        .map(|participant| match participant.role {
            Role::Again => format!("{} again (A/A)", participant.entry.name),
            _ => participant.label.clone(),
        })
        .collect();
    let extent = match settings.extent {
        Extent::Time(ns) => format!("{:.1} s", Duration::from_nanos(ns).as_secs_f64()),
        Extent::Requests(requests) => format!("{requests} requests"),
    };
    let settings_word = if conditions == 1 { "setting" } else { "settings" };
    format!(
        "{} × {conditions} {settings_word} × {} rounds × ({:.1} s warm-up + {extent}) ≈ {}",
        names.join(", "),
        settings.rounds,
        settings.warmup.as_secs_f64(),
        duration(expected),
    )
}

/// A time as a person says it.
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::settings::{Machine, resolve};
    use crate::cli::{Parsed, parse};

    fn plan(line: &str) -> Plan {
        let words = std::iter::once("bench").chain(line.split_whitespace()).map(str::to_owned);
        let Parsed::Command(cli) = parse(words).expect("a good line") else { panic!("{line}") };
        let machine = Machine { usable: vec![0, 1], cores: vec![vec![0], vec![1]] };
        Plan::new(&resolve(&cli.flags, &machine).expect("good flags"))
    }

    #[test]
    fn mirrored_and_shuffled() {
        let orders = orders(4, 5, &mut SplitMix64::new(42));
        let words: Vec<String> =
            orders.iter().map(|order| order.iter().map(|place| place.to_string()).collect()).collect();
        assert_eq!(words, ["1302", "2031", "2301", "1032", "1320"]);
    }

    #[test]
    fn two_take_turns() {
        assert_eq!(orders(2, 5, &mut SplitMix64::new(42)), [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]);
        assert_eq!(orders(1, 2, &mut SplitMix64::new(42)), [[0], [0]]);
        assert!(orders(3, 0, &mut SplitMix64::new(42)).is_empty());
    }

    #[test]
    fn the_prescribed_plan() {
        let plan = plan("--system raw-tcp -c 400");
        let expected =
            "raw-tcp, tonic, tonic again (A/A), tonic-tuned × 1 setting × 5 rounds × (0.5 s warm-up + 1.5 s)";
        assert!(plan.line().starts_with(expected), "{}", plan.line());
        assert_eq!(plan.rounds(), 20);
        assert!((40..=50).contains(&plan.expected.as_secs()), "{:?}", plan.expected);
        let labels: Vec<&str> = plan.participants.iter().map(|p| p.label.as_str()).collect();
        assert_eq!(labels, ["raw-tcp", "tonic", "tonic (A/A)", "tonic-tuned"]);
        assert_eq!(plan.blocks()[0], "c=400 b=1024 round 1: tonic, tonic-tuned, raw-tcp, tonic (A/A)");
    }

    #[test]
    fn a_seed_fixes_the_plan() {
        let line = |seed| plan(&format!("--system raw-tcp --seed {seed} -c 1,100")).blocks();
        assert_eq!(line(1), line(1));
        assert_ne!(line(1), line(2));
        assert_eq!(line(1).len(), 10);
    }

    #[test]
    fn times_in_words() {
        assert_eq!(duration(Duration::from_secs(41)), "41 s");
        assert_eq!(duration(Duration::from_secs(301)), "6 min");
        assert_eq!(duration(Duration::from_secs(7_260)), "2 h 1 min");
    }

    #[test]
    fn no_baseline_no_second_name() {
        let plan = plan("--system raw-tcp --baseline none");
        assert_eq!(plan.participants.len(), 1);
    }
}
