//! Codec by transport: one number a pair, and where we lose.

use super::layout::{Column, PAGE, lines};
use super::numbers::{MISSING, fixed, level, ratio_interval};
use crate::analysis::cell::Metric;
use crate::analysis::comparison::{Analysis, Compared};
use crate::cli::settings::Settings;
use crate::stats::many::geometric_mean;
use crate::stats::verdict::Verdict;
use crate::system::registry;
use crate::system::{Codec, Pair, Transport};

/// The tables of all conditions.
pub fn report(analysis: &Analysis, settings: &Settings) -> Vec<String> {
    let mut report = Vec::new();
    for compared in &analysis.conditions {
        report.extend(table(compared, Metric::Tps, "TPS"));
        report.extend(table(compared, Metric::ServerCpu, "server CPU per request"));
        report.extend(summary(compared, settings));
        report.push(String::new());
    }
    report
}

fn table(compared: &Compared, metric: Metric, what: &str) -> Vec<String> {
    let base = compared.base.map_or(MISSING, |base| &compared.cells[base].participant.label);
    let condition = &compared.condition;
    let title = format!("× {base} {what} @ c={} b={}", condition.concurrency, condition.body);
    let codecs = Codec::ALL.iter().map(|codec| codec.name().to_owned()).collect();
    let mut columns = vec![Column::left(title, codecs)];
    for transport in Transport::ALL {
        let cells =
            Codec::ALL.iter().map(|&codec| cell(compared, Pair { codec, transport }, metric)).collect();
        columns.push(Column::left(transport.name(), cells));
    }
    lines(&columns, PAGE)
}

fn cell(compared: &Compared, pair: Pair, metric: Metric) -> String {
    let found = compared.subjects().find(|&place| compared.cells[place].participant.entry.pair == Some(pair));
    let Some(place) = found else {
        let reason = if registry::of_pair(pair).is_some() { "not measured" } else { "no such pair" };
        return format!("{MISSING} {reason}");
    };
    let Some(comparison) = compared.comparison(place) else { return MISSING.to_owned() };
    let Some(ratio) = comparison.ratio(metric) else { return MISSING.to_owned() };
    let mut text = ratio_interval(ratio.value, ratio.interval.as_ref());
    let mark = match comparison.verdict {
        Verdict::Loss => " L",
        Verdict::Tie => " T",
        Verdict::Inconclusive => " ?",
        Verdict::Win | Verdict::None => "",
    };
    text.push_str(mark);
    for flag in &compared.cells[place].flags {
        text.push(' ');
        text.push_str(flag.id());
    }
    text
}

fn summary(compared: &Compared, settings: &Settings) -> Vec<String> {
    let judged: Vec<_> = compared
        .subjects()
        .filter_map(|place| compared.comparison(place))
        .filter_map(|comparison| Some((comparison, comparison.ratio(Metric::Tps)?)))
        .collect();
    let ratios: Vec<f64> = judged.iter().map(|(_, ratio)| ratio.value).collect();
    let count = |verdict| judged.iter().filter(|(comparison, _)| comparison.verdict == verdict).count();
    let mut lines = vec![format!(
        "geometric mean of {} pairs {}; {} wins, {} ties, {} losses, {} inconclusive (Holm, {})",
        ratios.len(),
        fixed(geometric_mean(&ratios), 2),
        count(Verdict::Win),
        count(Verdict::Tie),
        count(Verdict::Loss),
        count(Verdict::Inconclusive),
        level(settings.confidence),
    )];
    let mut lost: Vec<_> =
        judged.iter().filter(|(comparison, _)| comparison.verdict == Verdict::Loss).collect();
    lost.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    let lost: Vec<String> = lost
        .iter()
        .map(|(comparison, ratio)| {
            let label = &compared.cells[comparison.cell].participant.label;
            format!("{label} {}", ratio_interval(ratio.value, ratio.interval.as_ref()))
        })
        .collect();
    lines.push(format!(
        "where we lose: {}",
        if lost.is_empty() { "nowhere".to_owned() } else { lost.join(", ") }
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{analysis, round, settings};
    use crate::plan::Role;

    #[test]
    fn every_pair_has_a_place() {
        let rounds = |tps: f64| [0.99, 1.0, 1.01].iter().map(|factor| round(tps * factor)).collect();
        let analysis = analysis(vec![
            ("tonic-tuned", Role::Subject, rounds(50_000.0)),
            ("tonic", Role::Baseline, rounds(100_000.0)),
        ]);
        let lines = report(&analysis, &settings());
        assert!(lines[0].starts_with("× tonic TPS @ c=10 b=1024  pool"), "{}", lines[0]);
        for (line, codec) in lines[1..4].iter().zip(Codec::ALL) {
            assert!(line.starts_with(codec.name()), "{line}");
        }
        let expected =
            "geometric mean of 1 pairs 0.50; 0 wins, 0 ties, 1 losses, 0 inconclusive (Holm, 99 %)";
        assert!(lines.contains(&expected.to_owned()), "{lines:#?}");
        assert!(lines.contains(&"where we lose: tonic-tuned 0.500 [0.500, 0.500]".to_owned()), "{lines:#?}");
    }
}
