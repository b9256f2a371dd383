//! All rounds of a plan, one after the other.

use super::host::Host;
use super::round::{self, Round};
use crate::cli::settings::{Condition, Settings};
use crate::exit::Failure;
use crate::plan::Plan;
use crate::report::progress::Reporter;

/// What was measured under one condition: a block for each round, a place in it for each participant.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The condition.
    pub condition: Condition,
    /// Complete blocks. `blocks[i][p]` is participant `p` in round `i`.
    pub blocks: Vec<Vec<Round>>,
}

/// Runs the plan. What is complete when something goes wrong is returned beside the failure.
pub fn run(
    host: &mut Host,
    plan: &Plan,
    settings: &Settings,
    reporter: &mut Reporter,
) -> (Vec<Measured>, Option<Failure>) {
    let mut all = Vec::new();
    for (condition, orders) in &plan.conditions {
        let mut measured = Measured { condition: *condition, blocks: Vec::new() };
        for (block, order) in orders.iter().enumerate() {
            let last = block + 1 == orders.len();
            let mut rounds: Vec<Option<Round>> = vec![None; plan.participants.len()];
            for &place in order {
                let participant = &plan.participants[place];
                reporter.begin(block + 1, &participant.label, condition);
                let count = settings.allocs && last;
                match round::run(host, participant.entry, condition, settings, count) {
                    Ok(round) => {
                        reporter.end(&round);
                        rounds[place] = Some(round);
                    }
                    Err(failure) => {
                        all.push(measured);
                        return (all, Some(named(failure, &participant.label)));
                    }
                }
            }
            measured.blocks.push(rounds.into_iter().flatten().collect());
        }
        all.push(measured);
    }
    (all, None)
}

fn named(failure: Failure, label: &str) -> Failure {
    match failure {
        Failure::Internal(what) => Failure::Internal(format!("{label}: {what}")),
        other => other,
    }
}
