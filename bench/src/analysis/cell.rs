//! One system under one condition, all rounds together.

use super::flags::{Flag, flags};
use crate::cli::settings::{Condition, Settings};
use crate::drive::noise::Noise;
use crate::drive::round::{Allocated, Round};
use crate::exit::Failure;
use crate::load::round::Errors;
use crate::plan::{Participant, Role};
use crate::stats::interval::{self, Interval};
use crate::stats::latency::Latencies;
use crate::stats::sanity;

/// A figure that every round has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Right replies a second.
    Tps,
    /// Mean latency, ns.
    Mean,
    /// Median latency, ns.
    P50,
    /// Latency, ns.
    P99,
    /// Latency, ns.
    P999,
    /// CPU of the server per request, ns.
    ServerCpu,
    /// CPU of the load generator per request, ns.
    ClientCpu,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Tps, Self::Mean, Self::P50, Self::P99, Self::P999, Self::ServerCpu, Self::ClientCpu];
}

/// One system under one condition.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Which system.
    pub participant: Participant,
    /// Under which condition.
    pub condition: Condition,
    /// What it showed.
    pub rounds: Vec<Round>,
    /// Latencies of all rounds.
    pub latencies: Latencies,
    /// What is doubtful about it.
    pub flags: Vec<Flag>,
    figures: Vec<[f64; Metric::ALL.len()]>,
}

impl Cell {
    /// Pools the rounds of one system.
    ///
    /// # Errors
    ///
    /// If a histogram came damaged out of a load process.
    pub fn new(
        participant: Participant,
        condition: Condition,
        rounds: Vec<Round>,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let mut latencies = Latencies::new();
        let mut figures = Vec::with_capacity(rounds.len());
        for round in &rounds {
            let one = round.load.latencies.unpack().map_err(Failure::Internal)?;
            figures.push([
                round.load.per_second(),
                one.moments().mean,
                one.quantile(0.5) as f64,
                one.quantile(0.99) as f64,
                one.quantile(0.999) as f64,
                round.server.cpu_per_request(),
                round.load.usage.cpu_per_request(),
            ]);
            latencies.merge(&one);
        }
        let mut cell = Self { participant, condition, rounds, latencies, flags: Vec::new(), figures };
        cell.flags = flags(&cell, settings);
        Ok(cell)
    }

    /// One figure of every round, in order.
    pub fn each(&self, metric: Metric) -> Vec<f64> {
        self.figures.iter().map(|figures| figures[metric as usize]).collect()
    }

    /// The mean of a figure over rounds; NaN without rounds.
    pub fn mean(&self, metric: Metric) -> f64 {
        self.each(metric).iter().sum::<f64>() / self.figures.len() as f64
    }

    /// The same with its interval; `None` with fewer than two rounds.
    pub fn interval(&self, metric: Metric, confidence: f64) -> Option<Interval> {
        interval::of_mean(&self.each(metric), confidence)
    }

    /// Errors of all rounds.
    pub fn errors(&self) -> Errors {
        let mut errors = Errors::default();
        self.rounds.iter().for_each(|round| errors.add(&round.load.errors));
        errors
    }

    /// Replies of all rounds, warm-up and drain included.
    pub fn answered(&self) -> u64 {
        self.rounds.iter().map(|round| round.load.answered).sum()
    }

    /// Calls in flight by Little's law over those that were meant to be, for each round.
    pub fn little(&self) -> Vec<f64> {
        let of = |figures: &[f64; Metric::ALL.len()]| {
            let [tps, mean, ..] = figures;
            sanity::little_ratio(*tps, *mean, self.condition.concurrency)
        };
        self.figures.iter().map(of).collect()
    }

    /// Fairness of the virtual clients, for each round.
    pub fn fairness(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| round.load.fairness).collect()
    }

    /// Share of its CPUs that the load generator kept busy, mean over rounds.
    pub fn client_busy(&self, cpus: usize) -> f64 {
        self.over_rounds(|round| round.load.usage.busy(cpus))
    }

    /// Share of its CPUs that the server kept busy, mean over rounds.
    pub fn server_busy(&self, cpus: usize) -> f64 {
        self.over_rounds(|round| round.server.busy(cpus))
    }

    /// Resident memory of the server under load, mean over rounds, bytes.
    pub fn memory(&self) -> f64 {
        self.over_rounds(|round| round.memory as f64)
    }

    /// What else ran on the CPUs that took part, mean over rounds; NaN if no window was long enough to tell.
    pub fn noise(&self) -> Noise {
        let known: Vec<Noise> = self.rounds.iter().filter_map(|round| round.noise).collect();
        let mean = |of: fn(&Noise) -> f64| known.iter().map(of).sum::<f64>() / known.len() as f64;
        Noise { foreign: mean(|noise| noise.foreign), steal: mean(|noise| noise.steal) }
    }

    /// Context switches of the server per request, mean over rounds.
    pub fn server_switches(&self) -> f64 {
        self.over_rounds(|round| round.server.switches_per_request())
    }

    /// Allocations per request, from the round that counted them.
    pub fn allocations(&self) -> Option<Allocated> {
        self.rounds.iter().find_map(|round| round.allocations)
    }

    /// Whether the figures are void.
    pub fn invalid(&self) -> bool {
        self.flags.iter().any(|flag| flag.voids())
    }

    /// Whether it is what is measured, not what is compared with.
    pub fn is_subject(&self) -> bool {
        self.participant.role == Role::Subject
    }

    fn over_rounds(&self, of: impl Fn(&Round) -> f64) -> f64 {
        self.rounds.iter().map(of).sum::<f64>() / self.rounds.len() as f64
    }
}
