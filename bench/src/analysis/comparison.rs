//! Ratios to the baseline, and what they say.

use std::collections::BTreeMap;

use super::cell::{Cell, Metric};
use super::flags::Flag;
use crate::cli::settings::{Condition, Settings};
use crate::drive::blocks::Measured;
use crate::exit::Failure;
use crate::plan::{Plan, Role};
use crate::stats::interval::{Interval, PairedRatio, samples_for_precision};
use crate::stats::many::{Holm, holm};
use crate::stats::rank::signed_rank;
use crate::stats::verdict::{Better, Verdict};

/// Everything that a run says.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// One for each condition.
    pub conditions: Vec<Compared>,
}

/// All systems under one condition.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The condition.
    pub condition: Condition,
    /// The systems, in the order of the plan.
    pub cells: Vec<Cell>,
    /// Place of the cell that the others are compared with: the fastest rival.
    pub base: Option<usize>,
    /// Half-width of the noise band around 1 that was in force.
    pub band: f64,
    /// Half-width of the A/A interval, if the first baseline was measured twice.
    pub floor: Option<f64>,
    /// Every cell but the base against the base; the A/A cell against its first name.
    pub comparisons: Vec<Comparison>,
}

/// One cell against another.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Place of the cell.
    pub cell: usize,
    /// Place of what it is compared with.
    pub base: usize,
    /// The ratios.
    pub ratios: Vec<Ratio>,
    /// Which of them decides.
    pub decides: Metric,
    /// Its p-value after Holm, over all subjects of the run; for others the plain one.
    pub p_holm: f64,
    /// What it says; `None` for cells that are not subjects.
    pub verdict: Verdict,
    /// Rounds that would probably settle an inconclusive verdict.
    pub rounds_needed: Option<u64>,
}

/// The ratio of one figure.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// Of which figure.
    pub metric: Metric,
    /// Geometric mean over blocks.
    pub value: f64,
    /// Its interval; none with a single round.
    pub interval: Option<Interval>,
    /// Of the hypothesis that there is no difference.
    pub p_value: f64,
    /// The same without assuming a distribution (Wilcoxon, exact).
    pub p_rank: Option<f64>,
    pairs: PairedRatio,
}

impl Comparison {
    /// The ratio of one figure; `None` if a round lacks it.
    pub fn ratio(&self, metric: Metric) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.metric == metric)
    }
}

impl Compared {
    /// What is said about a cell.
    pub fn comparison(&self, cell: usize) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.cell == cell)
    }

    /// Places of the subjects.
    pub fn subjects(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().enumerate().filter(|(_, cell)| cell.is_subject()).map(|(place, _)| place)
    }
}

/// Analyses what was measured. Conditions without a complete round are left out.
///
/// # Errors
///
/// If a histogram came damaged out of a load process.
pub fn analyse(plan: &Plan, measured: &[Measured], settings: &Settings) -> Result<Analysis, Failure> {
    let mut conditions = Vec::new();
    for measured in measured.iter().filter(|measured| !measured.blocks.is_empty()) {
        let mut cells = Vec::new();
        for (place, participant) in plan.participants.iter().enumerate() {
            let rounds = measured.blocks.iter().map(|block| block[place].clone()).collect();
            cells.push(Cell::new(participant.clone(), measured.condition, rounds, settings)?);
        }
        conditions.push(compare(measured.condition, cells, settings));
    }
    if settings.verdicts {
        judge(&mut conditions, settings);
    }
    Ok(Analysis { conditions })
}

fn compare(condition: Condition, cells: Vec<Cell>, settings: &Settings) -> Compared {
    let base = fastest_rival(&cells);
    let first = cells.iter().position(|cell| cell.participant.role == Role::Baseline);
    let mut comparisons = Vec::new();
    let mut floor = None;
    for (place, cell) in cells.iter().enumerate() {
        let against = if cell.participant.role == Role::Again { first } else { base };
        let Some(against) = against.filter(|&against| against != place) else { continue };
        let comparison = ratios(&cells, place, against, settings);
        if cell.participant.role == Role::Again {
            floor = comparison
                .ratio(Metric::Tps)
                .and_then(|ratio| ratio.pairs.log_half_width(settings.confidence));
        }
        comparisons.push(comparison);
    }
    let band = settings.noise_threshold.max(floor.unwrap_or(0.0));
    Compared { condition, cells, base, band, floor, comparisons }
}

/// The baseline with the highest throughput; the raw floor only if there is no other.
fn fastest_rival(cells: &[Cell]) -> Option<usize> {
    let baselines = cells.iter().enumerate().filter(|(_, cell)| cell.participant.role == Role::Baseline);
    let floor = |cell: &Cell| cell.participant.entry.floor;
    let rank = |cell: &Cell| (!floor(cell), cell.mean(Metric::Tps));
    baselines
        .max_by(|(_, a), (_, b)| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .map(|(place, _)| place)
}

fn ratios(cells: &[Cell], cell: usize, base: usize, settings: &Settings) -> Comparison {
    let (a, b) = (&cells[cell], &cells[base]);
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let (a, b) = (a.each(metric), b.each(metric));
        let pairs = PairedRatio::new(&a, &b)?;
        let logs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a / b).ln()).collect();
        Some(Ratio {
            metric,
            value: pairs.value(),
            interval: pairs.interval(settings.confidence),
            p_value: pairs.p_value(),
            p_rank: signed_rank(&logs).map(|test| test.p_value),
            pairs,
        })
    });
    // Where the load generator was the limit, throughput does not tell the systems apart.
    let bound = [a, b].into_iter().any(|cell| cell.flags.contains(&Flag::ClientBound));
    Comparison {
        cell,
        base,
        ratios: ratios.collect(),
        decides: if bound { Metric::ServerCpu } else { Metric::Tps },
        p_holm: f64::NAN,
        verdict: Verdict::None,
        rounds_needed: None,
    }
}

/// Verdicts of all subjects under all conditions: one family of hypotheses.
fn judge(conditions: &mut [Compared], settings: &Settings) {
    let mut family = Vec::new();
    for (place, compared) in conditions.iter().enumerate() {
        for (which, comparison) in compared.comparisons.iter().enumerate() {
            if compared.cells[comparison.cell].is_subject() {
                let p = comparison.ratio(comparison.decides).map_or(f64::NAN, |ratio| ratio.p_value);
                family.push(((place, which), p));
            }
        }
    }
    let p_values: Vec<f64> = family.iter().map(|(_, p)| *p).collect();
    let adjusted: BTreeMap<(usize, usize), Holm> =
        family.iter().map(|(at, _)| *at).zip(holm(&p_values)).collect();
    for ((place, which), holm) in adjusted {
        let compared = &mut conditions[place];
        let band = compared.band;
        let comparison = &mut compared.comparisons[which];
        comparison.p_holm = holm.p_value;
        let Some(ratio) = comparison.ratio(comparison.decides).copied() else { continue };
        let level = 1.0 - (1.0 - settings.confidence) / holm.divisor as f64;
        let better = if comparison.decides == Metric::Tps { Better::Higher } else { Better::Lower };
        comparison.verdict = Verdict::of(ratio.pairs.interval(level), band, better);
        comparison.rounds_needed = (comparison.verdict == Verdict::Inconclusive)
            .then(|| rounds_to_settle(&ratio.pairs, band, level))
            .flatten()
            // The estimate takes the deviation for known, so with few rounds it is on the low side.
            .map(|rounds| rounds.max(compared.cells[0].rounds.len() as u64 + 1));
    }
}

/// Rounds after which the interval would probably be clear of the edge of the band that it now straddles.
fn rounds_to_settle(pairs: &PairedRatio, band: f64, level: f64) -> Option<u64> {
    let center = pairs.value().ln();
    let edges = [(1.0 + band).ln(), (1.0 - band).ln()];
    let distance = edges.into_iter().map(|edge| (center - edge).abs()).fold(f64::INFINITY, f64::min);
    let needed = samples_for_precision(pairs.log_deviation(), distance, 100.0, level).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to lie in 0..1e6")]
    let rounds = (0.0..1e6).contains(&needed).then_some(needed as u64);
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{analysis, round, settings};
    use crate::drive::round::Round;

    fn wobbling(tps: f64) -> Vec<Round> {
        [0.99, 1.0, 1.01, 1.0, 0.995].iter().map(|factor| round(tps * factor)).collect()
    }

    #[test]
    fn the_faster_rival_is_the_base() {
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, wobbling(200_000.0)),
            ("tonic", Role::Baseline, wobbling(80_000.0)),
            ("tonic-tuned", Role::Baseline, wobbling(100_000.0)),
        ]);
        let compared = &analysis.conditions[0];
        assert_eq!(compared.base, Some(2));
        let comparison = compared.comparison(0).expect("a comparison");
        assert_eq!(comparison.verdict, Verdict::Win);
        let ratio = comparison.ratio(Metric::Tps).expect("a ratio");
        assert!((ratio.value - 2.0).abs() < 1e-9);
        assert_eq!(compared.comparison(1).map(|comparison| comparison.verdict), Some(Verdict::None));
        assert!(compared.comparison(2).is_none());
    }

    #[test]
    fn the_raw_floor_is_no_rival() {
        let analysis = analysis(vec![
            ("tonic-tuned", Role::Subject, wobbling(50_000.0)),
            ("tonic", Role::Baseline, wobbling(80_000.0)),
            ("raw-tcp", Role::Baseline, wobbling(300_000.0)),
        ]);
        assert_eq!(analysis.conditions[0].base, Some(1));
        assert_eq!(analysis.conditions[0].comparison(0).map(|c| c.verdict), Some(Verdict::Loss));
    }

    #[test]
    fn noise_widens_the_band() {
        let noisy =
            |tps: f64, signs: [f64; 5]| signs.iter().map(|sign| round(tps * (1.0 + 0.05 * sign))).collect();
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, wobbling(102_000.0)),
            ("tonic", Role::Baseline, wobbling(100_000.0)),
            ("tonic", Role::Again, noisy(100_000.0, [1.0, -1.0, 1.0, -1.0, 0.0])),
        ]);
        let compared = &analysis.conditions[0];
        assert!(compared.floor.is_some_and(|floor| floor > 0.05), "{:?}", compared.floor);
        assert_eq!(compared.comparison(0).map(|c| c.verdict), Some(Verdict::Tie));
    }

    #[test]
    fn server_cpu_decides_where_the_generator_was_the_limit() {
        let bound = |mut round: Round| {
            round.load.usage.close.user_ns = 1_000_000_000;
            round.server.close.user_ns = 100_000_000;
            round
        };
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, wobbling(100_000.0).into_iter().map(bound).collect()),
            ("tonic", Role::Baseline, wobbling(100_000.0)),
        ]);
        let comparison = analysis.conditions[0].comparison(0).expect("a comparison");
        assert_eq!(comparison.decides, Metric::ServerCpu);
        assert_eq!(comparison.verdict, Verdict::Win);
    }

    #[test]
    fn one_round_says_nothing() {
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, vec![round(200_000.0)]),
            ("tonic", Role::Baseline, vec![round(100_000.0)]),
        ]);
        let comparison = analysis.conditions[0].comparison(0).expect("a comparison");
        assert_eq!(comparison.verdict, Verdict::None);
        assert!(comparison.ratio(Metric::Tps).is_some_and(|ratio| ratio.interval.is_none()));
    }

    #[test]
    fn an_open_question_says_how_many_rounds_it_needs() {
        let spread = [0.9, 1.1, 1.0, 1.15, 0.95].iter().map(|factor| round(100_000.0 * factor)).collect();
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, spread),
            ("tonic", Role::Baseline, wobbling(100_000.0)),
        ]);
        let comparison = analysis.conditions[0].comparison(0).expect("a comparison");
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        assert!(comparison.rounds_needed.is_some_and(|rounds| rounds > 5), "{comparison:?}");
        assert!(settings().confidence > 0.9);
    }
}
