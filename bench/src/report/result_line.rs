//! The last line of standard output: one system under one condition, for scripts.

use std::fmt;
use std::str::FromStr;

use crate::analysis::cell::Metric;
use crate::analysis::comparison::{Compared, Ratio};
use crate::report::numbers::{MISSING, fixed, ratio, ratio_ends};
use crate::stats::verdict::Verdict;

/// The line: `RESULT`, the system, then `key=value` in a fixed order, no spaces in values, `-` for what is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultLine {
    /// The system.
    pub system: String,
    /// The pairs, in order.
    pub fields: Vec<(String, String)>,
}

/// The keys, in their order.
pub const KEYS: [&str; 16] = [
    "c",
    "b",
    "tps",
    "avg_ms",
    "p99_ms",
    "p999_ms",
    "srv_cpu_us",
    "errors",
    "vs",
    "tps_ratio",
    "p99_ratio",
    "cpu_ratio",
    "verdict",
    "confidence",
    "flags",
    "out",
];

impl ResultLine {
    /// The line of the cell at `place`.
    pub fn new(compared: &Compared, place: usize, confidence: f64, out: Option<&str>) -> Self {
        let cell = &compared.cells[place];
        let comparison = compared.comparison(place);
        let of = |metric| known(comparison.and_then(|comparison| comparison.ratio(metric)));
        let quantile =
            |q| cell.latencies.trusted_quantile(q).map_or_else(dash, |ns| fixed(ns as f64 / 1e6, 3));
        let flags: Vec<&str> = cell.flags.iter().map(|flag| flag.id()).collect();
        let base = comparison.map(|comparison| compared.cells[comparison.base].participant.label.clone());
        let verdict = comparison.map_or(Verdict::None, |comparison| comparison.verdict);
        let values = [
            cell.condition.concurrency.to_string(),
            cell.condition.body.to_string(),
            fixed(cell.mean(Metric::Tps), 0),
            fixed(cell.latencies.moments().mean / 1e6, 3),
            quantile(0.99),
            quantile(0.999),
            fixed(cell.mean(Metric::ServerCpu) / 1e3, 2),
            cell.errors().total().to_string(),
            base.unwrap_or_else(|| "none".to_owned()),
            of(Metric::Tps),
            of(Metric::P99),
            of(Metric::ServerCpu),
            verdict.to_string(),
            confidence.to_string(),
            if flags.is_empty() { dash() } else { flags.join("+") },
            out.map_or_else(dash, str::to_owned),
        ];
        let fields = KEYS.iter().zip(values).map(|(key, value)| ((*key).to_owned(), plain(&value))).collect();
        Self { system: plain(&cell.participant.label), fields }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for ResultLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RESULT {}", self.system)?;
        self.fields.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

impl FromStr for ResultLine {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split(' ');
        if words.next() != Some("RESULT") {
            return Err("not a RESULT line".to_owned());
        }
        let system = words.next().filter(|word| !word.is_empty()).ok_or("no system")?.to_owned();
        let fields = words
            .map(|word| {
                let (key, value) =
                    word.split_once('=').ok_or_else(|| format!("'{word}' is not key=value"))?;
                Ok((key.to_owned(), value.to_owned()))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { system, fields })
    }
}

fn known(found: Option<&Ratio>) -> String {
    let Some(found) = found else { return dash() };
    match found.interval {
        Some(interval) => {
            let (low, high) = ratio_ends(found.value, &interval);
            format!("{}[{low},{high}]", ratio(found.value))
        }
        None => format!("{}[-,-]", ratio(found.value)),
    }
}

fn dash() -> String {
    "-".to_owned()
}

/// Without spaces, and with the dash of ASCII.
fn plain(value: &str) -> String {
    value.replace(MISSING, "-").replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{analysis, round};
    use crate::plan::Role;

    fn line(rounds: usize) -> ResultLine {
        let of = |tps: f64| (0..rounds).map(|i| round(tps * (1.0 + i as f64 * 1e-3))).collect();
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, of(200_000.0)),
            ("tonic", Role::Baseline, of(80_000.0)),
            ("tonic-tuned", Role::Baseline, of(100_000.0)),
        ]);
        ResultLine::new(&analysis.conditions[0], 0, 0.99, Some("target/my runs/x"))
    }

    #[test]
    fn every_key_once_in_order() {
        let line = line(3);
        let keys: Vec<&str> = line.fields.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, KEYS);
        let text = line.to_string();
        assert!(text.starts_with("RESULT raw-tcp c=10 b=1024 tps=200200 avg_ms=0.050 p99_ms="), "{text}");
        assert_eq!(line.get("vs"), Some("tonic-tuned"));
        assert_eq!(line.get("tps_ratio"), Some("2.00[2.00,2.00]"));
        assert_eq!(line.get("verdict"), Some("win"));
        assert_eq!(line.get("flags"), Some("-"));
        assert_eq!(line.get("out"), Some("target/my_runs/x"));
        assert_eq!(line.get("errors"), Some("0"));
    }

    #[test]
    fn it_reads_its_own_lines() {
        let line = line(3);
        assert_eq!(line.to_string().parse(), Ok(line));
        assert!("RESULT".parse::<ResultLine>().is_err());
        assert!("RESULT x y".parse::<ResultLine>().is_err());
        assert!("RESULTS x a=b".parse::<ResultLine>().is_err());
    }

    #[test]
    fn one_round_has_no_interval() {
        let line = line(1);
        assert_eq!(line.get("tps_ratio"), Some("2.00[-,-]"));
        assert_eq!(line.get("verdict"), Some("none"));
    }
}
