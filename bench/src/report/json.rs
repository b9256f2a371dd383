//! `result.json`: everything that was measured, times in ns, sizes in bytes, ratios as numbers.

use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use super::files::Saved;
use crate::analysis::cell::{Cell, Metric};
use crate::analysis::comparison::{Compared, Comparison};
use crate::drive::round::Round;
use crate::environment;
use crate::load::round::Extent;
use crate::stats::interval::Interval;
use crate::stats::moments::Moments;
use crate::system::registry::Entry;

/// Counts up when the meaning of a field changes.
const SCHEMA: u32 = 1;

const PERCENTILES: [(&str, f64); 10] = [
    ("p50", 0.5),
    ("p66", 0.66),
    ("p75", 0.75),
    ("p80", 0.8),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p98", 0.98),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// The file.
///
/// # Errors
///
/// If something can not be written as JSON.
pub fn result(saved: &Saved<'_>) -> serde_json::Result<String> {
    let settings = saved.settings;
    let extent = match settings.extent {
        Extent::Time(ns) => json!({ "duration_ns": ns }),
        Extent::Requests(requests) => json!({ "requests": requests }),
    };
    let started = saved.started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let conditions = &saved.analysis.conditions;
    let cells: Vec<Value> = conditions
        .iter()
        .flat_map(|compared| compared.cells.iter().map(|cell| self::cell(cell, settings.confidence)))
        .collect();
    let compared: Vec<Value> = conditions.iter().flat_map(comparisons).collect();
    let mut seen: Vec<&str> = Vec::new();
    let mut systems = Vec::new();
    for participant in &saved.plan.participants {
        if !seen.contains(&participant.entry.name) {
            seen.push(participant.entry.name);
            systems.push(system(participant.entry));
        }
    }
    let document = json!({
        "schema": SCHEMA,
        "tool": { "version": env!("CARGO_PKG_VERSION"), "build": environment::build() },
        "command": saved.command,
        "started": started,
        "env": saved.environment,
        "settings": {
            "profile": settings.profile.name(),
            "extent": extent,
            "warmup_ns": u64::try_from(settings.warmup.as_nanos()).unwrap_or(u64::MAX),
            "rounds": settings.rounds,
            "seed": settings.seed,
            "timeout_ns": u64::try_from(settings.timeout.as_nanos()).unwrap_or(u64::MAX),
            "max_errors": settings.max_errors,
            "verify": settings.verify,
            "confidence": settings.confidence,
            "noise_threshold": settings.noise_threshold,
            "sets": settings.split,
        },
        "plan": saved.plan.blocks(),
        "calibration": saved.calibration,
        "systems": systems,
        "cells": cells,
        "comparisons": compared,
    });
    serde_json::to_string_pretty(&document).map(|text| text + "\n")
}

fn system(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "codec": entry.pair.map(|pair| pair.codec),
        "transport": entry.pair.map(|pair| pair.transport),
        "sharing": entry.sharing,
        "version": (entry.version)(),
        "config": (entry.describe)(),
    })
}

fn cell(cell: &Cell, confidence: f64) -> Value {
    let moments = cell.latencies.moments();
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .map(|(name, q)| ((*name).to_owned(), json!(cell.latencies.trusted_quantile(*q))))
        .collect();
    let intervals: Map<String, Value> = Metric::ALL
        .iter()
        .map(|&metric| (key(metric), json!(cell.interval(metric, confidence).map(interval))))
        .collect();
    let condition = &cell.condition;
    json!({
        "system": cell.participant.label,
        "role": cell.participant.role,
        "c": condition.concurrency,
        "b": condition.body,
        "method": "echo",
        "connections": condition.connections_for(cell.participant.entry.sharing),
        "server_threads": condition.server_threads,
        "client_threads": condition.client_threads,
        "rounds": cell.rounds.iter().map(round).collect::<Vec<_>>(),
        "pooled": {
            "tps": cell.mean(Metric::Tps),
            "tps_cov_percent": finite(Moments::of(&cell.each(Metric::Tps)).variation_percent()),
            "mean": moments.mean,
            "var": finite(moments.variance()),
            "percentiles": percentiles,
            "min": cell.latencies.min(),
            "max": cell.latencies.max(),
            "errors": cell.errors(),
            "histogram": cell.latencies.pack().histogram,
        },
        "ci": intervals,
        "cost": {
            "server_cpu_ns": finite(cell.mean(Metric::ServerCpu)),
            "client_cpu_ns": finite(cell.mean(Metric::ClientCpu)),
            "server_switches": finite(cell.server_switches()),
            "rss_bytes": finite(cell.memory()),
            "allocations": cell.allocations(),
        },
        "little": cell.little(),
        "fairness": cell.fairness(),
        "flags": cell.flags.iter().map(|flag| flag.id()).collect::<Vec<_>>(),
    })
}

fn round(round: &Round) -> Value {
    json!({
        "window_ns": round.load.window_ns,
        "issued": round.load.issued,
        "answered": round.load.answered,
        "recorded": round.load.recorded,
        "tps": finite(round.load.per_second()),
        "errors": round.load.errors,
        "first_error": round.load.first_error,
        "latencies": round.load.latencies,
        "fairness": finite(round.load.fairness),
        "connect_ns": round.load.connect_ns,
        "client": round.load.usage,
        "server": round.server,
        "accepted": round.accepted,
        "unbalanced": round.unbalanced,
        "idle_rss_bytes": round.idle_memory,
        "rss_bytes": round.memory,
        "noise": round.noise,
        "allocations": round.allocations,
    })
}

fn comparisons(compared: &Compared) -> Vec<Value> {
    compared.comparisons.iter().flat_map(|comparison| ratios(compared, comparison)).collect()
}

fn ratios(compared: &Compared, comparison: &Comparison) -> Vec<Value> {
    let of = |place: usize| compared.cells[place].participant.label.as_str();
    let decides = |metric| metric == comparison.decides;
    comparison
        .ratios
        .iter()
        .map(|ratio| {
            json!({
                "c": compared.condition.concurrency,
                "b": compared.condition.body,
                "system": of(comparison.cell),
                "baseline": of(comparison.base),
                "metric": ratio.metric,
                "ratio": ratio.value,
                "lo": ratio.interval.map(|interval| interval.low),
                "hi": ratio.interval.map(|interval| interval.high),
                "p": finite(ratio.p_value),
                "p_rank": ratio.p_rank,
                "p_holm": decides(ratio.metric).then_some(finite(comparison.p_holm)),
                "band": compared.band,
                "verdict": decides(ratio.metric).then_some(comparison.verdict),
            })
        })
        .collect()
}

fn interval(interval: Interval) -> Value {
    json!({ "value": interval.value, "lo": interval.low, "hi": interval.high })
}

fn key(metric: Metric) -> String {
    serde_json::to_value(metric).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// JSON knows no NaN.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::analysis::samples::{analysis, round as sample, settings};
    use crate::environment::Environment;
    use crate::plan::{Plan, Role};
    use crate::stats::latency::PackedLatencies;

    #[test]
    fn what_was_measured_can_be_read_back() {
        let analysis = analysis(vec![
            ("raw-tcp", Role::Subject, vec![sample(200_000.0), sample(201_000.0)]),
            ("tonic", Role::Baseline, vec![sample(100_000.0), sample(100_500.0)]),
        ]);
        let settings = settings();
        let text = result(&Saved {
            settings: &settings,
            plan: &Plan::new(&settings),
            analysis: &analysis,
            calibration: None,
            environment: &Environment::read(),
            command: "bench",
            started: SystemTime::UNIX_EPOCH,
        })
        .expect("JSON");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["schema"], json!(1));
        assert_eq!(document["cells"].as_array().map(Vec::len), Some(2));
        assert_eq!(document["cells"][0]["pooled"]["tps"], json!(200_500.0));
        assert_eq!(document["cells"][0]["rounds"][1]["recorded"], json!(201_000));
        assert_eq!(document["systems"].as_array().map(Vec::len), Some(3));
        let tps = &document["comparisons"][0];
        assert_eq!(
            (&tps["system"], &tps["metric"], &tps["verdict"]),
            (&json!("raw-tcp"), &json!("tps"), &json!("win"))
        );
        assert!(tps["lo"].as_f64().is_some_and(|low| low > 1.9));
        let packed: PackedLatencies =
            serde_json::from_value(document["cells"][0]["rounds"][0]["latencies"].clone())
                .expect("latencies");
        assert_eq!(packed.unpack().expect("a histogram").count(), 2_000);
    }
}
