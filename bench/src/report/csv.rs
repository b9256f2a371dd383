//! `cells.csv`: a line for each cell, times in ns, sizes in bytes.

use crate::analysis::cell::Metric;
use crate::analysis::comparison::{Analysis, Compared};
use crate::cli::settings::Settings;

const COLUMNS: [&str; 33] = [
    "system",
    "codec",
    "transport",
    "connections",
    "server_threads",
    "client_threads",
    "method",
    "concurrency",
    "body_bytes",
    "rate",
    "rounds",
    "tps",
    "tps_ci_rel",
    "mean_ns",
    "var_ns2",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "errors",
    "srv_cpu_ns_per_req",
    "cli_cpu_ns_per_req",
    "srv_allocs",
    "cli_allocs",
    "wire_bytes",
    "rss_bytes",
    "little",
    "fairness",
    "tps_ratio",
    "tps_ratio_lo",
    "tps_ratio_hi",
    "verdict",
];

/// The file.
pub fn cells(analysis: &Analysis, settings: &Settings) -> String {
    let mut text = COLUMNS.join(",") + ",flags\n";
    for compared in &analysis.conditions {
        for place in 0..compared.cells.len() {
            text.push_str(&line(compared, place, settings).join(","));
            text.push('\n');
        }
    }
    text
}

fn line(compared: &Compared, place: usize, settings: &Settings) -> Vec<String> {
    let cell = &compared.cells[place];
    let condition = &cell.condition;
    let entry = cell.participant.entry;
    let moments = cell.latencies.moments();
    let quantile = |q| cell.latencies.trusted_quantile(q).map_or(String::new(), |ns| ns.to_string());
    let interval = cell.interval(Metric::Tps, settings.confidence);
    let comparison = compared.comparison(place);
    let ratio = comparison.and_then(|comparison| comparison.ratio(Metric::Tps));
    let ends = ratio.and_then(|ratio| ratio.interval);
    let flags: Vec<&str> = cell.flags.iter().map(|flag| flag.id()).collect();
    vec![
        cell.participant.label.clone(),
        entry.pair.map_or(String::new(), |pair| pair.codec.name().to_owned()),
        entry.pair.map_or(String::new(), |pair| pair.transport.name().to_owned()),
        condition.connections_for(entry.sharing).to_string(),
        condition.server_threads.to_string(),
        condition.client_threads.to_string(),
        "echo".to_owned(),
        condition.concurrency.to_string(),
        condition.body.to_string(),
        String::new(),
        cell.rounds.len().to_string(),
        number(cell.mean(Metric::Tps)),
        number(interval.map_or(f64::NAN, |interval| interval.precision_percent() / 100.0)),
        number(moments.mean),
        number(moments.variance()),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        quantile(0.999),
        cell.latencies.max().map_or(String::new(), |ns| ns.to_string()),
        cell.errors().total().to_string(),
        number(cell.mean(Metric::ServerCpu)),
        number(cell.mean(Metric::ClientCpu)),
        number(cell.allocations().map_or(f64::NAN, |each| each.server)),
        number(cell.allocations().map_or(f64::NAN, |each| each.client)),
        String::new(),
        number(cell.memory()),
        number(lowest(&cell.little())),
        number(lowest(&cell.fairness())),
        number(ratio.map_or(f64::NAN, |ratio| ratio.value)),
        number(ends.map_or(f64::NAN, |ends| ends.low)),
        number(ends.map_or(f64::NAN, |ends| ends.high)),
        comparison.map_or(String::new(), |comparison| comparison.verdict.to_string()),
        flags.join(" "),
    ]
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Empty where there is no number.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{analysis, round, settings};
    use crate::plan::Role;

    #[test]
    fn as_many_values_as_columns() {
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, vec![round(200_000.0), round(201_000.0)]),
            ("tonic", Role::Baseline, vec![round(100_000.0), round(100_500.0)]),
        ]);
        let text = cells(&analysis, &settings());
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() == COLUMNS.len() + 1));
        let value = |row: usize, column: &str| {
            lines[row][lines[0].iter().position(|name| *name == column).expect("a column")]
        };
        assert_eq!(value(1, "system"), "raw-tcp");
        assert_eq!(value(1, "tps"), "200500");
        assert_eq!(value(1, "verdict"), "win");
        assert_eq!(value(2, "verdict"), "");
        assert_eq!(value(1, "srv_allocs"), "2");
        assert_eq!(value(2, "p999_ns"), "");
    }
}
