//! Whether the figures of a cell can be believed.

use std::fmt;

use super::cell::Cell;
use crate::cli::settings::Settings;

const LITTLE_LOW: f64 = 0.90;
const LITTLE_HIGH: f64 = 1.05;
const LITTLE_VOID: f64 = 0.75;
const FAIR: f64 = 0.95;
const CLIENT_SATURATED: f64 = 0.95;
const SERVER_SATURATED: f64 = 0.90;
const FOREIGN: f64 = 0.03;
const STEAL: f64 = 0.01;

/// What is doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// V1: more failed calls than allowed.
    Errors,
    /// V2: a reply was wrong, doubled or missing.
    WrongReplies,
    /// V3: the server handled another number of requests than the clients got replies.
    Unbalanced,
    /// V4: another number of connections than configured, or no connection was used twice.
    Connections,
    /// V5: clients idle or starved; `void` when so far that the figures mean nothing.
    Starved {
        /// Below the last limit.
        void: bool,
    },
    /// V6: some clients got much more done than others.
    Unfair,
    /// V7: the load generator was the limit, not the server.
    ClientBound,
    /// V11: something else ran on the measured CPUs.
    Noisy,
}

impl Flag {
    /// The id, as in the RESULT line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Errors => "V1",
            Self::WrongReplies => "V2",
            Self::Unbalanced => "V3",
            Self::Connections => "V4",
            Self::Starved { .. } => "V5",
            Self::Unfair => "V6",
            Self::ClientBound => "V7",
            Self::Noisy => "V11",
        }
    }

    /// Whether figures with this flag are void.
    pub fn voids(self) -> bool {
        matches!(self, Self::Errors | Self::WrongReplies | Self::Unbalanced | Self::Starved { void: true })
    }

    /// For the legend.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Errors => "more failed calls than --max-errors",
            Self::WrongReplies => "a reply was swapped, corrupt, doubled or lost",
            Self::Unbalanced => "requests handled and replies received differ",
            Self::Connections => "connections opened differ from those configured, or were not reused",
            Self::Starved { .. } => "clients idle or starved (Little ratio)",
            Self::Unfair => "virtual clients were served unevenly",
            Self::ClientBound => "client-bound: TPS is a lower bound, server CPU per request decides",
            Self::Noisy => "noisy: other processes, or the hypervisor, took CPU from the measured ones",
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// All flags of a cell, in order.
pub fn flags(cell: &Cell, settings: &Settings) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut raise = |raised: bool, flag: Flag| flags.extend(raised.then_some(flag));
    let errors = cell.errors();
    raise(errors.failures() > settings.max_errors, Flag::Errors);
    raise(errors.wrong() > 0, Flag::WrongReplies);
    let balanced = cell.rounds.iter().all(|round| {
        u64::try_from(round.unbalanced).is_ok_and(|surplus| surplus <= round.load.errors.failures())
    });
    raise(!balanced, Flag::Unbalanced);

    let configured = cell.condition.connections_for(cell.participant.entry.sharing) as u64;
    let connected = cell.rounds.iter().all(|round| {
        round.accepted == configured && (round.load.answered > configured || round.load.answered == 0)
    });
    raise(!connected, Flag::Connections);

    let little = cell.little();
    let lowest = little.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = little.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    raise(lowest < LITTLE_LOW || highest > LITTLE_HIGH, Flag::Starved { void: lowest < LITTLE_VOID });
    raise(cell.fairness().iter().any(|fairness| *fairness < FAIR), Flag::Unfair);

    let client = cell.client_busy(settings.split.client.len());
    let server = cell.server_busy(settings.split.server.len());
    raise(client >= CLIENT_SATURATED && server < SERVER_SATURATED, Flag::ClientBound);
    let noise = cell.noise();
    raise(noise.foreign > FOREIGN || noise.steal > STEAL, Flag::Noisy);
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{cell, round, settings};
    use crate::drive::noise::Noise;

    fn ids(change: impl Fn(&mut crate::drive::round::Round)) -> Vec<&'static str> {
        let mut one = round(100_000.0);
        change(&mut one);
        cell("tonic", vec![round(100_000.0), one]).flags.into_iter().map(Flag::id).collect()
    }

    #[test]
    fn a_sound_cell_has_none() {
        assert!(ids(|_| {}).is_empty());
    }

    #[test]
    fn each_flag() {
        assert_eq!(ids(|round| round.load.errors.failed = 1), ["V1"]);
        assert_eq!(ids(|round| round.load.errors.swapped = 1), ["V2"]);
        assert_eq!(ids(|round| round.unbalanced = 1), ["V3"]);
        assert_eq!(ids(|round| round.unbalanced = -1), ["V3"]);
        assert_eq!(ids(|round| round.accepted = 2), ["V4"]);
        assert_eq!(ids(|round| round.load.fairness = 0.5), ["V6"]);
        assert_eq!(ids(|round| round.load.recorded /= 2), ["V5"]);
        assert_eq!(ids(|round| round.noise = Some(Noise { foreign: 0.5, steal: 0.0 })), ["V11"]);
        assert_eq!(ids(|round| round.noise = Some(Noise { foreign: 0.0, steal: 0.05 })), ["V11"]);
        assert!(ids(|round| round.noise = None).is_empty());
    }

    #[test]
    fn the_generator_at_its_limit() {
        let mut busy = round(100_000.0);
        busy.load.usage.close.user_ns = 1_000_000_000;
        busy.server.close.user_ns = 500_000_000;
        let cell = cell("tonic", vec![busy.clone(), busy.clone()]);
        assert_eq!(cell.flags, [Flag::ClientBound]);
        assert!(!cell.invalid());
        busy.server.close.user_ns = 950_000_000;
        assert!(super::super::samples::cell("tonic", vec![busy]).flags.is_empty());
    }

    #[test]
    fn what_voids() {
        assert!(Flag::Starved { void: true }.voids() && !Flag::Starved { void: false }.voids());
        assert!(settings().max_errors == 0);
    }
}
