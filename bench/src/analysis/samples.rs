//! Invented rounds for tests.

use super::cell::Cell;
use super::comparison::{Analysis, analyse};
use crate::cli::settings::{Condition, Machine, Settings, resolve};
use crate::cli::{Parsed, parse};
use crate::drive::blocks::Measured;
use crate::drive::noise::Noise;
use crate::drive::round::{Allocated, Round};
use crate::load::round::{Errors, LoadReport};
use crate::plan::{Participant, Plan, Role};
use crate::process::{Mark, Window};
use crate::stats::latency::Latencies;
use crate::system::registry;

/// The settings of a plain run with ten clients on a machine of two CPUs.
pub(crate) fn settings() -> Settings {
    let words =
        ["bench", "--system", "raw-tcp", "-c", "10", "--pool-size", "1", "-t", "1s"].map(str::to_owned);
    let Parsed::Command(cli) = parse(words).expect("good flags") else { panic!("not a command") };
    resolve(&cli.flags, &Machine { usable: vec![0, 1], cores: vec![vec![0], vec![1]] }).expect("good flags")
}

/// One second at this throughput, ten clients, all as it should be.
pub(crate) fn round(tps: f64) -> Round {
    let mut latencies = Latencies::new();
    let latency = 10.0 / tps * 1e9;
    (0..2_000_u32).for_each(|i| latencies.record(whole(latency * (0.9 + f64::from(i) * 1e-4))));
    let recorded = whole(tps);
    let window = |user_ns| Window {
        open: Mark::default(),
        close: Mark { at_ns: 1_000_000_000, requests: recorded, user_ns, ..Mark::default() },
    };
    Round {
        load: LoadReport {
            issued: recorded,
            answered: recorded,
            errors: Errors::default(),
            recorded,
            window_ns: 1_000_000_000,
            latencies: latencies.pack(),
            fairness: 1.0,
            usage: window(700_000_000),
            connect_ns: 1_000_000,
            first_error: None,
        },
        server: window(900_000_000),
        accepted: 1,
        unbalanced: 0,
        idle_memory: 4 << 20,
        memory: 14 << 20,
        noise: Some(Noise { foreign: 0.01, steal: 0.0 }),
        allocations: Some(Allocated { client: 3.0, server: 2.0, client_bytes: 3000.0, server_bytes: 2000.0 }),
    }
}

/// The cell of these rounds.
pub(crate) fn cell(system: &str, rounds: Vec<Round>) -> Cell {
    let settings = settings();
    let entry = registry::find(system).expect("a known system");
    let participant = Participant { label: system.to_owned(), entry, role: Role::Subject };
    Cell::new(participant, settings.conditions[0], rounds, &settings).expect("sound histograms")
}

/// The analysis of these participants under one condition.
pub(crate) fn analysis(participants: Vec<(&str, Role, Vec<Round>)>) -> Analysis {
    let settings = settings();
    let mut plan = Plan::new(&settings);
    let condition: Condition = settings.conditions[0];
    let rounds = participants.first().map_or(0, |(_, _, rounds)| rounds.len());
    let blocks = (0..rounds)
        .map(|block| participants.iter().map(|(_, _, rounds)| rounds[block].clone()).collect())
        .collect();
    plan.participants = participants
        .iter()
        .map(|(name, role, _)| {
            let label = if *role == Role::Again { format!("{name} (A/A)") } else { (*name).to_owned() };
            Participant { label, entry: registry::find(name).expect("a known system"), role: *role }
        })
        .collect();
    analyse(&plan, &[Measured { condition, blocks }], &settings).expect("sound histograms")
}

fn whole(x: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "invented, small and positive"
    )]
    let whole = x as u64;
    whole
}
