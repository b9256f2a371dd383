//! The table of one condition, and what stands below it.

use super::layout::{Column, PAGE, lines};
use super::numbers::{MISSING, fixed, level, mib, ms, plus_minus, ratio_interval, thousands, us};
use super::screen::Paint;
use crate::analysis::cell::{Cell, Metric};
use crate::analysis::comparison::{Compared, Comparison};
use crate::analysis::flags::Flag;
use crate::cli::settings::Settings;
use crate::drive::calibration::Calibration;
use crate::load::round::Extent;
use crate::message::Verify;
use crate::plan::Role;
use crate::stats::verdict::Verdict;

/// The whole report of one condition.
pub fn report(
    compared: &Compared,
    settings: &Settings,
    calibration: Option<&Calibration>,
    paint: Paint,
) -> Vec<String> {
    let mut report = vec![header(compared, settings)];
    report.extend(lines(&columns(compared, settings), PAGE));
    report.extend(footer(compared, settings, calibration));
    report.extend(compared.subjects().filter_map(|place| sentence(compared, place, settings, paint)));
    report
}

fn header(compared: &Compared, settings: &Settings) -> String {
    let condition = &compared.condition;
    let extent = match settings.extent {
        Extent::Time(ns) => format!("{} s", ns as f64 / 1e9),
        Extent::Requests(requests) => format!("{} requests", thousands(requests as f64)),
    };
    let connections = match condition.connections {
        1 => "1 shared connection".to_owned(),
        several => format!("{several} shared connections"),
    };
    let rounds = compared.cells.first().map_or(0, |cell| cell.rounds.len());
    format!(
        "echo {} B · closed loop · c={} · {connections} · {rounds} rounds × {extent} · {} CI · {}, threads {}:{}",
        condition.body,
        condition.concurrency,
        level(settings.confidence),
        settings.split,
        condition.server_threads,
        condition.client_threads,
    )
}

fn columns(compared: &Compared, settings: &Settings) -> Vec<Column> {
    let cells = &compared.cells;
    let each = |of: &dyn Fn(&Cell) -> String| cells.iter().map(of).collect::<Vec<_>>();
    let quantile = |q: f64| {
        each(&|cell| cell.latencies.trusted_quantile(q).map_or(MISSING.to_owned(), |ns| ms(ns as f64)))
    };
    let mut columns = vec![
        Column::left("system", each(&|cell| cell.participant.label.clone())),
        Column::right("TPS", each(&|cell| thousands(cell.mean(Metric::Tps)))),
        Column::right(
            "±",
            each(&|cell| plus_minus(cell.interval(Metric::Tps, settings.confidence).as_ref())),
        ),
        Column::right("AVG ms", each(&|cell| ms(cell.latencies.moments().mean))),
        Column::right("TP50", quantile(0.5)),
        Column::right("TP99", quantile(0.99)),
        Column::right("TP999", quantile(0.999)),
        Column::right("srv CPU µs", each(&|cell| us(cell.mean(Metric::ServerCpu)))),
        Column::right("cli CPU µs", each(&|cell| us(cell.mean(Metric::ClientCpu)))),
        Column::right("alloc c+s", each(&allocations)),
        Column::right("rss MiB", each(&|cell| mib(cell.memory()))),
        Column::left("flags", each(&flag_list)),
    ];
    let Some(base) = compared.base else { return columns };
    let base = &cells[base].participant.label;
    let ratios = |metric| {
        (0..cells.len())
            .map(|place| match compared.comparison(place).and_then(|comparison| comparison.ratio(metric)) {
                Some(ratio) => ratio_interval(ratio.value, ratio.interval.as_ref()),
                None => "1".to_owned(),
            })
            .collect::<Vec<_>>()
    };
    columns.push(Column::left(format!("× {base} TPS"), ratios(Metric::Tps)));
    columns.push(Column::left("× its TP99", ratios(Metric::P99)));
    columns.push(Column::left("× its srv CPU", ratios(Metric::ServerCpu)));
    columns.push(Column::left("verdict", (0..cells.len()).map(|place| standing(compared, place)).collect()));
    columns
}

fn standing(compared: &Compared, place: usize) -> String {
    let cell = &compared.cells[place];
    match (cell.participant.role, compared.comparison(place)) {
        _ if compared.base == Some(place) => "base".to_owned(),
        (Role::Again, Some(comparison)) => {
            let first = &compared.cells[comparison.base].participant.label;
            match compared.floor {
                Some(floor) => format!("× {first}: floor ±{:.1} %", floor * 100.0),
                None => format!("× {first}"),
            }
        }
        (Role::Subject, Some(comparison)) => comparison.verdict.to_string(),
        _ => String::new(),
    }
}

fn allocations(cell: &Cell) -> String {
    match cell.allocations() {
        Some(each) => format!("{:.1}+{:.1}", each.client, each.server),
        None => MISSING.to_owned(),
    }
}

fn flag_list(cell: &Cell) -> String {
    cell.flags.iter().map(|flag| flag.id()).collect::<Vec<_>>().join(" ")
}

fn footer(compared: &Compared, settings: &Settings, calibration: Option<&Calibration>) -> Vec<String> {
    let mut footer = Vec::new();
    let cells = &compared.cells;
    if let Some(calibration) = calibration {
        let floor = calibration.floor;
        let shares: Vec<String> = compared
            .subjects()
            .map(|place| &cells[place])
            .map(|cell| format!("{} {:.0} %", cell.participant.label, 100.0 * cell.mean(Metric::Tps) / floor))
            .collect();
        footer.push(format!("raw-tcp {} (calibration); efficiency: {}", thousands(floor), shares.join(", ")));
        footer.push(format!(
            "load generator: ceiling {} calls/s, {:.0} ns a call by itself; clock {:.0} ns a reading",
            thousands(calibration.ceiling),
            calibration.generator_ns,
            calibration.clock.cost_ns,
        ));
    }
    footer.push(trust(cells, settings));
    footer.push(noise(cells));
    let mut raised: Vec<Flag> = cells.iter().flat_map(|cell| cell.flags.iter().copied()).collect();
    raised.sort_by_key(|flag| (flag.id().len(), flag.id()));
    raised.dedup_by_key(|flag| flag.id());
    footer.extend(raised.into_iter().map(|flag| format!("{}: {}", flag.id(), flag.meaning())));
    for cell in cells {
        if let Some(error) = cell.rounds.iter().find_map(|round| round.load.first_error.as_ref()) {
            footer.push(format!("{}: first error: {error}", cell.participant.label));
        }
    }
    footer
}

/// How much may be believed, in one line.
fn trust(cells: &[Cell], settings: &Settings) -> String {
    let answered: u64 = cells.iter().map(Cell::answered).sum();
    let errors: u64 = cells.iter().map(|cell| cell.errors().total()).sum();
    let verified = match settings.verify {
        Verify::Full => "verified byte for byte".to_owned(),
        Verify::Sample(every) => format!("of which one in {every} was verified"),
        Verify::Off => "not verified".to_owned(),
    };
    let little: Vec<f64> = cells.iter().flat_map(Cell::little).collect();
    let lowest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = little.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let fairness: Vec<f64> = cells.iter().flat_map(Cell::fairness).collect();
    format!(
        "all {} replies {verified}; {errors} errors; Little {}–{}; fairness ≥ {}",
        thousands(answered as f64),
        fixed(lowest(&little), 2),
        fixed(highest, 2),
        fixed(lowest(&fairness), 2),
    )
}

/// What disturbed the worst cell.
fn noise(cells: &[Cell]) -> String {
    let worst = |of: fn(&Cell) -> f64| cells.iter().map(of).fold(f64::NAN, f64::max);
    format!(
        "noise: other processes took up to {} % of the measured CPUs, the hypervisor {} %",
        fixed(100.0 * worst(|cell| cell.noise().foreign), 1),
        fixed(100.0 * worst(|cell| cell.noise().steal), 1),
    )
}

fn sentence(compared: &Compared, place: usize, settings: &Settings, paint: Paint) -> Option<String> {
    let comparison = compared.comparison(place)?;
    let label = &compared.cells[place].participant.label;
    let base = &compared.cells[comparison.base].participant.label;
    let of = |metric| {
        comparison
            .ratio(metric)
            .map_or(MISSING.to_owned(), |ratio| ratio_interval(ratio.value, ratio.interval.as_ref()))
    };
    let mut sentence = format!(
        "{label}: {} against {base}: {} × its TPS, {} × its TP99, {} × its server CPU per request",
        paint.verdict(comparison.verdict),
        of(Metric::Tps),
        of(Metric::P99),
        of(Metric::ServerCpu),
    );
    sentence.push_str(&reservation(compared, comparison, settings));
    Some(sentence)
}

fn reservation(compared: &Compared, comparison: &Comparison, settings: &Settings) -> String {
    let mut text = String::new();
    if comparison.decides == Metric::ServerCpu {
        text.push_str("; V7, so server CPU decides");
    }
    if comparison.verdict == Verdict::Inconclusive {
        match comparison.rounds_needed {
            Some(rounds) => text.push_str(&format!("; about {rounds} rounds would settle it")),
            None => text.push_str("; more rounds would not settle it"),
        }
    }
    if !settings.verdicts {
        text.push_str(&format!("; no verdict under --profile {}", settings.profile.name()));
    } else if comparison.verdict == Verdict::None {
        text.push_str("; one round: no interval, no verdict");
    } else {
        text.push_str(&format!(" (noise band ±{:.1} %)", compared.band * 100.0));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::samples::{analysis, round, settings};
    use crate::cli::settings::Color;
    use crate::drive::calibration::Clock;
    use crate::drive::round::Round;

    fn rounds(tps: f64) -> Vec<Round> {
        [0.99, 1.0, 1.01].iter().map(|factor| round(tps * factor)).collect()
    }

    fn text(participants: Vec<(&str, Role, Vec<Round>)>) -> Vec<String> {
        let calibration = Calibration {
            clock: Clock { cost_ns: 25.0, step_ns: 1 },
            ceiling: 5_000_000.0,
            generator_ns: 120.0,
            floor: 250_000.0,
        };
        let analysis = analysis(participants);
        report(&analysis.conditions[0], &settings(), Some(&calibration), Paint::new(Color::Never))
    }

    #[test]
    fn the_layout() {
        let lines = text(vec![
            ("raw-tcp", Role::Subject, rounds(200_000.0)),
            ("tonic", Role::Baseline, rounds(100_000.0)),
            ("tonic", Role::Again, rounds(100_000.0)),
        ]);
        let expected = [
            "echo 1024 B · closed loop · c=10 · 1 shared connection · 3 rounds × 1 s · 99 % CI · cpu 0 server, cpu 1 client, threads 1:1",
            "system           TPS        ±  AVG ms   TP50   TP99  TP999  srv CPU µs  cli CPU µs  alloc c+s  rss MiB  flags",
            "raw-tcp      200,000  ± 5.7 %   0.050  0.050  0.055      –        4.50        3.50    3.0+2.0     14.0",
            "tonic        100,000  ± 5.7 %   0.100  0.100  0.111      –        9.00        7.00    3.0+2.0     14.0",
            "tonic (A/A)  100,000  ± 5.7 %   0.100  0.100  0.111      –        9.00        7.00    3.0+2.0     14.0",
            "",
        ];
        for (line, expected) in lines.iter().zip(expected) {
            assert_eq!(line, expected);
        }
        assert!(lines[6].starts_with("system       × tonic TPS"), "{}", lines[6]);
        assert!(lines[7].ends_with("win"), "{}", lines[7]);
        assert!(lines[8].ends_with("base"), "{}", lines[8]);
        assert!(lines[9].ends_with("× tonic: floor ±0.0 %"), "{}", lines[9]);
        assert!(lines.iter().skip(1).all(|line| line.chars().count() <= PAGE
            || line.contains("against")
            || line.contains("verified")));
        assert!(lines.contains(&"raw-tcp 250,000 (calibration); efficiency: raw-tcp 80 %".to_owned()));
        let trust =
            "all 1,200,000 replies verified byte for byte; 0 errors; Little 1.00–1.00; fairness ≥ 1.00";
        assert!(lines.contains(&trust.to_owned()), "{lines:#?}");
        let noise = "noise: other processes took up to 1.0 % of the measured CPUs, the hypervisor 0.0 %";
        assert!(lines.contains(&noise.to_owned()), "{lines:#?}");
        assert!(
            lines.last().is_some_and(
                |line| line.starts_with("raw-tcp: win against tonic: 2.00 [2.00, 2.00] × its TPS")
            )
        );
    }

    #[test]
    fn flags_and_errors_are_explained() {
        let mut broken = rounds(200_000.0);
        broken[0].load.errors.corrupt = 3;
        broken[0].load.first_error = Some("reset by peer".to_owned());
        let lines = text(vec![("raw-tcp", Role::Subject, broken)]);
        assert!(lines.iter().any(|line| line.ends_with("  V2")), "{lines:#?}");
        assert!(lines.contains(&"V2: a reply was swapped, corrupt, doubled or lost".to_owned()));
        assert!(lines.contains(&"raw-tcp: first error: reset by peer".to_owned()));
        assert!(!lines.iter().any(|line| line.contains("verdict")));
    }

    #[test]
    fn one_round_says_so() {
        let lines = text(vec![
            ("raw-tcp", Role::Subject, vec![round(200_000.0)]),
            ("tonic", Role::Baseline, vec![round(100_000.0)]),
        ]);
        assert!(lines.last().is_some_and(|line| line.ends_with("one round: no interval, no verdict")));
    }
}
