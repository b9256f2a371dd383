//! From flags to settings: presets filled in, contradictions refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Flags;
use super::profile::Profile;
use super::values::{body, choice, confidence, count, doubles, elements, number, percent, time, unknown};
use crate::cpus::{self, Split};
use crate::exit::Failure;
use crate::load::round::Extent;
use crate::message::Verify;
use crate::system::registry::{self, Entry};
use crate::system::{Codec, Pair, Sharing, Transport};

const MOST_CLIENTS: u64 = 65_535;
const MOST_THREADS: u64 = 1024;

/// Everything that a measuring command needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The preset.
    pub profile: Profile,
    /// What is measured.
    pub systems: Vec<&'static Entry>,
    /// What it is compared with.
    pub baselines: Vec<&'static Entry>,
    /// Under which conditions, one after the other.
    pub conditions: Vec<Condition>,
    /// Load before each round.
    pub warmup: Duration,
    /// Length of a round.
    pub extent: Extent,
    /// Rounds.
    pub rounds: usize,
    /// Seed of bodies and of the order of rounds.
    pub seed: u64,
    /// CPUs of the two sides.
    pub split: Split,
    /// Limit of a call.
    pub timeout: Duration,
    /// Failed calls allowed in a cell.
    pub max_errors: u64,
    /// How much of the replies is compared.
    pub verify: Verify,
    /// Level of all intervals.
    pub confidence: f64,
    /// Ratios this close to 1 are ties.
    pub noise_threshold: f64,
    /// Whether allocations are counted.
    pub allocs: bool,
    /// Whether the first baseline is measured twice.
    pub aa: bool,
    /// Whether ratios are judged.
    pub verdicts: bool,
    /// How things are printed and saved.
    pub output: Output,
    /// Exit 5 if a flag is raised or a verdict is inconclusive.
    pub strict: bool,
    /// Print the plan only.
    pub dry_run: bool,
    /// Remarks about the flags.
    pub notes: Vec<String>,
}

/// One setting of the factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Calls in flight.
    pub concurrency: usize,
    /// Bytes of the body.
    pub body: usize,
    /// Shared connections.
    pub connections: usize,
    /// Exclusive connections.
    pub pool_size: usize,
    /// Worker threads of the server.
    pub server_threads: usize,
    /// Worker threads of the load generator.
    pub client_threads: usize,
}

impl Condition {
    /// Connections that a system of this kind opens.
    pub fn connections_for(&self, sharing: Sharing) -> usize {
        match sharing {
            Sharing::Shared => self.connections,
            Sharing::Exclusive => self.pool_size,
        }
    }
}

/// How things are printed and saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Where files go.
    pub out: Option<PathBuf>,
    /// Print tables.
    pub table: bool,
    /// Write `result.json`.
    pub json: bool,
    /// Write `cells.csv`.
    pub csv: bool,
    /// Name of the run.
    pub label: String,
    /// Progress on standard error.
    pub progress: Progress,
    /// Colour, if one may.
    pub color: Color,
    /// Only the summary lines.
    pub quiet: bool,
    /// Lines for each round.
    pub verbose: u8,
}

/// Progress on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A bar on a terminal, lines otherwise.
    Auto,
    /// A bar.
    Bar,
    /// A line when a round ends.
    Plain,
    /// Nothing.
    None,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the machine offers.
#[derive(Debug, Clone)]
pub struct Machine {
    /// CPUs that this process may use.
    pub usable: Vec<usize>,
    /// The same by core.
    pub cores: Vec<Vec<usize>>,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let usable = cpus::usable();
        let cores = cpus::cores(&usable);
        Self { usable, cores }
    }
}

/// Resolves the flags.
///
/// # Errors
///
/// [`Failure::Usage`], or [`Failure::NoBaseline`].
pub fn resolve(flags: &Flags, machine: &Machine) -> Result<Settings, Failure> {
    let profile = flags
        .profile
        .as_deref()
        .map_or(Ok(Profile::Quick), |name| choice("profile", name, &Profile::NAMES))?;
    let preset = profile.preset();
    let (systems, absent) = systems(flags)?;
    let baselines = baselines(flags, preset.baselines, &systems)?;
    let split = split(flags, machine)?;
    let extent = extent(flags, preset.duration)?;
    let conditions = conditions(flags, preset.grid, &split, &systems)?;
    if let Extent::Requests(requests) = extent
        && let Some(condition) = conditions.iter().find(|condition| condition.concurrency as u64 > requests)
    {
        let what = format!("concurrency {} is greater than {requests} requests", condition.concurrency);
        return Err(Failure::usage(what, "raise --requests or lower --concurrency"));
    }
    let hour = Duration::from_secs(3600);
    let milli = Duration::from_millis(1);
    let rounds =
        flags.rounds.as_deref().map_or(Ok(preset.rounds), |word| number("--rounds", word, 1, 1000))?;
    Ok(Settings {
        profile,
        systems,
        baselines,
        conditions,
        warmup: flags
            .warmup
            .as_deref()
            .map_or(Ok(preset.warmup), |word| time("--warmup", word, Duration::ZERO, hour))?,
        extent,
        rounds: usize::try_from(rounds).map_err(Failure::internal)?,
        seed: flags.seed.as_deref().map_or(Ok(42), |word| number("--seed", word, 0, u64::MAX))?,
        timeout: flags
            .timeout
            .as_deref()
            .map_or(Ok(Duration::from_secs(5)), |word| time("--timeout", word, milli, hour))?,
        max_errors: flags
            .max_errors
            .as_deref()
            .map_or(Ok(0), |word| number("--max-errors", word, 0, u64::MAX))?,
        verify: flags.verify.as_deref().map_or(Ok(Verify::Full), verify)?,
        confidence: flags.confidence.as_deref().map_or(Ok(0.99), confidence)?,
        noise_threshold: flags
            .noise_threshold
            .as_deref()
            .map_or(Ok(0.01), |word| percent("--noise-threshold", word, 50.0))?,
        allocs: flags.allocs.as_deref().map_or(Ok(preset.allocs), |word| on_off("--allocs", word))?,
        aa: flags.aa.as_deref().map_or(Ok(preset.aa), |word| on_off("--aa", word))?,
        // Rounds asked for by hand are taken at their word.
        verdicts: preset.verdicts || flags.rounds.is_some(),
        output: output(flags)?,
        strict: flags.strict,
        dry_run: flags.dry_run,
        notes: notes(flags, &split, &absent),
        split,
    })
}

fn systems(flags: &Flags) -> Result<(Vec<&'static Entry>, Vec<Pair>), Failure> {
    if !flags.system.is_empty() {
        let named = elements(&flags.system)
            .into_iter()
            .map(|name| registry::find(name).ok_or_else(|| unknown("system", name, &names(|_| true))));
        return Ok((named.collect::<Result<_, _>>()?, Vec::new()));
    }
    let mut codec_names: Vec<(&str, Option<Codec>)> =
        Codec::ALL.iter().map(|c| (c.name(), Some(*c))).collect();
    codec_names.push(("all", None));
    let mut transport_names: Vec<(&str, Option<Transport>)> =
        Transport::ALL.iter().map(|t| (t.name(), Some(*t))).collect();
    transport_names.push(("all", None));
    let (codecs, named_codecs) = axis("codec", &flags.codec, &codec_names, &Codec::ALL)?;
    let (transports, named_transports) =
        axis("transport", &flags.transport, &transport_names, &Transport::ALL)?;

    let mut found = Vec::new();
    let mut absent = Vec::new();
    for &codec in &codecs {
        for &transport in &transports {
            let pair = Pair { codec, transport };
            match registry::of_pair(pair) {
                Some(entry) => found.push(entry),
                // Naming both is asking for this very pair.
                None if named_codecs && named_transports => {
                    let what = format!("no such pair: {}/{}", codec.name(), transport.name());
                    return Err(Failure::usage(what, format!("pairs: {}", pairs())));
                }
                None => absent.push(pair),
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::usage("no pair to measure", format!("pairs: {}", pairs())));
    }
    Ok((found, absent))
}

/// The values of one axis, and whether they were named one by one.
fn axis<T: Copy + PartialEq>(
    what: &str,
    given: &[String],
    choices: &[(&str, Option<T>)],
    all: &[T],
) -> Result<(Vec<T>, bool), Failure> {
    let chosen: Vec<Option<T>> =
        elements(given).into_iter().map(|word| choice(what, word, choices)).collect::<Result<_, _>>()?;
    if chosen.is_empty() || chosen.contains(&None) {
        return Ok((all.to_vec(), false));
    }
    Ok((chosen.into_iter().flatten().collect(), true))
}

fn names(which: impl Fn(&Entry) -> bool) -> Vec<&'static str> {
    registry::all().iter().filter(|entry| which(entry)).map(|entry| entry.name).collect()
}

fn pairs() -> String {
    let names = names(|entry| entry.pair.is_some());
    if names.is_empty() { "none in this build".to_owned() } else { names.join(" ") }
}

fn baselines(
    flags: &Flags,
    preset: &[&str],
    systems: &[&'static Entry],
) -> Result<Vec<&'static Entry>, Failure> {
    let given = elements(&flags.baseline);
    if given.contains(&"none") {
        if given.len() > 1 {
            return Err(Failure::usage("--baseline: 'none' stands alone", "drop it, or the others"));
        }
        return Ok(Vec::new());
    }
    let wanted: Vec<&str> = if given.is_empty() { preset.to_vec() } else { given };
    let mut found = Vec::new();
    for name in wanted {
        let entry = registry::find(name).ok_or_else(|| Failure::NoBaseline {
            what: format!("no baseline '{name}' in this build"),
            hint: format!("looked among: {}", names(|_| true).join(" ")),
        })?;
        if !systems.iter().any(|system| system.name == entry.name) {
            found.push(entry);
        }
    }
    Ok(found)
}

fn split(flags: &Flags, machine: &Machine) -> Result<Split, Failure> {
    let auto = cpus::split(&machine.cores);
    let word = match flags.pin.as_deref() {
        None | Some("auto") => return Ok(auto),
        Some("off") => return Ok(Split { pinned: false, ..auto }),
        Some(word) => word,
    };
    let hint = "auto, off, or the sets of server and client, such as 0-3:4-15";
    let (server, client) = word
        .split_once(':')
        .ok_or_else(|| Failure::usage(format!("--pin: '{word}' is not allowed"), hint))?;
    let set =
        |list| cpus::parse(list).map_err(|bad| Failure::usage(format!("--pin: '{bad}' is not a CPU"), hint));
    let split = Split { server: set(server)?, client: set(client)?, pinned: true };
    if let Some(cpu) = split.server.iter().chain(&split.client).find(|cpu| !machine.usable.contains(cpu)) {
        let allowed = format!("allowed here: {}", cpus::list(&machine.usable));
        return Err(Failure::usage(format!("--pin: CPU {cpu} may not be used"), allowed));
    }
    let overlap = split.server.iter().find(|cpu| split.client.contains(cpu));
    match overlap {
        Some(cpu) if !split.shared() => {
            Err(Failure::usage(format!("--pin: CPU {cpu} is in both sets"), "separate sets, or equal ones"))
        }
        _ => Ok(split),
    }
}

fn extent(flags: &Flags, preset: Duration) -> Result<Extent, Failure> {
    let day = Duration::from_secs(86_400);
    match (&flags.requests, &flags.duration) {
        (Some(_), Some(_)) => Err(Failure::usage("--requests and --duration exclude each other", "drop one")),
        (Some(word), None) => number("--requests", word, 1, 10_000_000_000).map(Extent::Requests),
        (None, word) => {
            let least = Duration::from_millis(200);
            let length = word.as_deref().map_or(Ok(preset), |word| time("--duration", word, least, day))?;
            Ok(Extent::Time(u64::try_from(length.as_nanos()).map_err(Failure::internal)?))
        }
    }
}

fn conditions(
    flags: &Flags,
    grid: &[(usize, usize)],
    split: &Split,
    systems: &[&Entry],
) -> Result<Vec<Condition>, Failure> {
    let threads = |flag: &str, given: &[String], default: usize| match elements(given) {
        list if list.is_empty() => Ok(vec![default]),
        list => list.into_iter().map(|word| count(flag, word, 1, MOST_THREADS)).collect(),
    };
    let server_threads = threads("--server-threads", &flags.server_threads, split.server.len())?;
    let client_threads = threads("--client-threads", &flags.client_threads, split.client.len())?;
    let connections: Vec<Option<usize>> = match elements(&flags.connections) {
        list if list.is_empty() => vec![None],
        list => list
            .into_iter()
            .map(|word| match word {
                "auto" => Ok(None),
                word => count("--connections", word, 1, MOST_CLIENTS).map(Some),
            })
            .collect::<Result<_, _>>()?,
    };
    let exclusive = systems.iter().any(|entry| entry.sharing == Sharing::Exclusive);
    let pool_size = match flags.pool_size.as_deref() {
        None => None,
        Some(_) if !exclusive => {
            return Err(Failure::usage(
                "--pool-size without a pool to size",
                "add --transport pool, or drop it",
            ));
        }
        Some(word) => Some(count("--pool-size", word, 1, MOST_CLIENTS)?),
    };
    let mut conditions = Vec::new();
    for (concurrency, body) in self::grid(flags, grid)? {
        for &server_threads in &server_threads {
            for &client_threads in &client_threads {
                for connections in &connections {
                    let connections =
                        connections.unwrap_or(server_threads.max(client_threads)).min(concurrency);
                    let pool_size = pool_size.unwrap_or(concurrency);
                    conditions.push(Condition {
                        concurrency,
                        body,
                        connections,
                        pool_size,
                        server_threads,
                        client_threads,
                    });
                }
            }
        }
    }
    Ok(conditions)
}

/// Concurrency by body: the preset's own grid, or the product of what was given.
fn grid(flags: &Flags, preset: &[(usize, usize)]) -> Result<Vec<(usize, usize)>, Failure> {
    let (first_concurrency, first_body) = preset.first().copied().unwrap_or((100, 1024));
    let clients: Vec<usize> = elements(&flags.concurrency)
        .into_iter()
        .map(|word| count("--concurrency", word, 1, MOST_CLIENTS))
        .collect::<Result<_, _>>()?;
    let bodies: Vec<usize> = elements(&flags.body).into_iter().map(body).collect::<Result<_, _>>()?;
    if clients.is_empty() && bodies.is_empty() {
        return Ok(preset.to_vec());
    }
    let clients = if clients.is_empty() { vec![first_concurrency] } else { clients };
    let bodies = if bodies.is_empty() { vec![first_body] } else { bodies };
    Ok(bodies.iter().flat_map(|&body| clients.iter().map(move |&clients| (clients, body))).collect())
}

fn verify(word: &str) -> Result<Verify, Failure> {
    match word.strip_prefix("sample:") {
        Some(every) => number("--verify", every, 1, u64::MAX).map(Verify::Sample),
        None => choice("verification", word, &[("full", Verify::Full), ("off", Verify::Off)]),
    }
}

fn on_off(flag: &str, word: &str) -> Result<bool, Failure> {
    choice(&format!("value of {flag}"), word, &[("on", true), ("off", false)])
}

fn output(flags: &Flags) -> Result<Output, Failure> {
    #[derive(Clone, Copy, PartialEq)]
    enum Format {
        Table,
        Json,
        Csv,
    }
    let names = [("table", Format::Table), ("json", Format::Json), ("csv", Format::Csv)];
    let mut formats: Vec<Format> = elements(&flags.format)
        .into_iter()
        .map(|word| choice("format", word, &names))
        .collect::<Result<_, _>>()?;
    if formats.is_empty() {
        formats = vec![Format::Table, Format::Json, Format::Csv];
    }
    let label = flags.label.clone().unwrap_or_else(|| "run".to_owned());
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if label.is_empty() || label.len() > 64 || !label.chars().all(allowed) {
        let what = format!("--label: '{label}' is not allowed");
        return Err(Failure::usage(what, "1 to 64 of A-Z a-z 0-9 . _ -"));
    }
    let progress = [
        ("auto", Progress::Auto),
        ("bar", Progress::Bar),
        ("plain", Progress::Plain),
        ("none", Progress::None),
    ];
    let color = [("auto", Color::Auto), ("always", Color::Always), ("never", Color::Never)];
    let word = |given: &Option<String>| given.clone().unwrap_or_else(|| "auto".to_owned());
    let out = flags.out.as_ref().map(PathBuf::from);
    if let Some(out) = &out
        && !vacant(out)
    {
        let what = format!("--out: '{}' is not an empty folder", out.display());
        return Err(Failure::usage(what, "name a folder that is empty or does not exist"));
    }
    Ok(Output {
        out,
        table: formats.contains(&Format::Table),
        json: formats.contains(&Format::Json),
        csv: formats.contains(&Format::Csv),
        label,
        progress: choice("progress", &word(&flags.progress), &progress)?,
        color: choice("colour", &word(&flags.color), &color)?,
        quiet: flags.quiet,
        verbose: flags.verbose,
    })
}

/// Whether results may go there: it does not exist, or is an empty folder.
fn vacant(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn notes(flags: &Flags, split: &Split, absent: &[Pair]) -> Vec<String> {
    let mut notes = Vec::new();
    if !absent.is_empty() {
        let names: Vec<String> =
            absent.iter().map(|pair| format!("{}/{}", pair.codec.name(), pair.transport.name())).collect();
        notes.push(format!("no such pair, left out: {}", names.join(" ")));
    }
    for (flag, given) in [
        ("--codec", &flags.codec),
        ("--transport", &flags.transport),
        ("--concurrency", &flags.concurrency),
        ("--body", &flags.body),
        ("--connections", &flags.connections),
        ("--baseline", &flags.baseline),
    ] {
        let doubles = doubles(given);
        if !doubles.is_empty() {
            notes.push(format!("{flag}: given twice, measured once: {}", doubles.join(" ")));
        }
    }
    if split.shared() && split.pinned {
        notes.push("client and server share CPUs".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests;
