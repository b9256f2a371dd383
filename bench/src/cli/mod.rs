//! The command line.
//!
//! clap splits it into words; what the words mean is decided in [`values`] and [`settings`], so that every
//! complaint names the offending element and says what to do.
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "comments on flags are help texts, with defaults in brackets"
)]

pub mod profile;
pub mod settings;
pub mod values;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::exit::Failure;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "bench", version, about = "Every codec and transport against tonic")]
#[command(disable_help_subcommand = true, after_help = "`bench help all` shows every flag.")]
pub struct Cli {
    /// What to do; `run` if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags, before or after the command.
    #[command(flatten)]
    pub flags: Flags,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Measure the given codecs and transports against the baselines (the default)
    Run,
    /// Every codec and transport, as a table of ratios
    Matrix,
    /// Cost of the clock, ceiling of the load generator, raw TCP floor, A/A noise floor
    Calibrate,
    /// Do the handlers of one connection use all cores, and does a quiet connection wait meanwhile?
    #[command(name = "busy-handlers", alias = "fairness")]
    BusyHandlers,
    /// Run one server, for a load on another machine
    Serve(Serve),
    /// Drive a server that `bench serve` runs elsewhere
    Load(Load),
    /// Codecs, transports, legal pairs, baselines, machine
    List,
    /// Show help; `help all` shows every flag
    Help {
        /// `all`, or a command
        topic: Option<String>,
    },
}

/// `bench serve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Serve {
    /// Listen address (port 0 = any)
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub addr: String,
    /// Control address (port 0 = any)
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub control: String,
    /// Worker threads of the server
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<String>,
    #[arg(long, hide = true)]
    #[allow(missing_docs, reason = "for the driver alone: the order of a child, as JSON")]
    pub order: Option<String>,
    #[arg(long, hide = true)]
    #[allow(missing_docs, reason = "for the driver alone: its process id")]
    pub parent: Option<u32>,
}

/// `bench load`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Load {
    /// The server's data address
    #[arg(long, value_name = "HOST:PORT")]
    pub target: Option<String>,
    /// The server's control address
    #[arg(long, value_name = "HOST:PORT")]
    pub control: Option<String>,
    #[arg(long, hide = true)]
    #[allow(missing_docs, reason = "for the driver alone: the order of a child, as JSON")]
    pub order: Option<String>,
    #[arg(long, hide = true)]
    #[allow(missing_docs, reason = "for the driver alone: its process id")]
    pub parent: Option<u32>,
}

/// Flags of every command that measures. The first twelve are the common ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[allow(missing_docs, reason = "the help text is the documentation; a line for each would say it twice")]
pub struct Flags {
    /// Message codecs to measure: protobuf thrift msgpack all [all]
    #[arg(long, global = true, value_name = "LIST")]
    pub codec: Vec<String>,
    /// Transports: pool = one call per pooled connection; mux = many calls share a connection; all [all]
    #[arg(long, global = true, value_name = "LIST")]
    pub transport: Vec<String>,
    /// Calls in flight at once (virtual clients) [100]
    #[arg(short, long, global = true, value_name = "LIST", allow_negative_numbers = true)]
    pub concurrency: Vec<String>,
    /// Request body bytes [1024]
    #[arg(short, long, global = true, value_name = "LIST", allow_negative_numbers = true)]
    pub body: Vec<String>,
    /// Connections that the calls of mux and gRPC share; auto = max(server threads, client threads) [auto]
    #[arg(long, global = true, value_name = "LIST", allow_negative_numbers = true)]
    pub connections: Vec<String>,
    /// Length of a measured round [by profile]
    #[arg(short = 't', long, global = true, value_name = "TIME", allow_negative_numbers = true)]
    pub duration: Option<String>,
    /// Interleaved rounds [5]
    #[arg(short, long, global = true, value_name = "N", allow_negative_numbers = true)]
    pub rounds: Option<String>,
    /// What to compare with, or `none` [tonic,tonic-tuned]
    #[arg(long, global = true, value_name = "LIST")]
    pub baseline: Vec<String>,
    /// Preset that single flags override: smoke quick standard [quick]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Where results go; must be empty or absent [target/bench/<time>-<label>]
    #[arg(long, global = true, value_name = "PATH")]
    pub out: Option<String>,
    /// Only the one-line summary
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print the plan, the order of rounds and the expected time; measure nothing
    #[arg(long, global = true)]
    pub dry_run: bool,

    /// Connections of pool and raw-tcp, one call at a time on each [= concurrency]
    #[arg(long, global = true, value_name = "N", hide = true, allow_negative_numbers = true)]
    pub pool_size: Option<String>,
    /// Requests per measured round, from one counter that all virtual clients share; excludes --duration
    #[arg(short = 'n', long, global = true, value_name = "N", hide = true, allow_negative_numbers = true)]
    pub requests: Option<String>,
    /// Unmeasured load before each round [by profile]
    #[arg(long, global = true, value_name = "TIME", hide = true, allow_negative_numbers = true)]
    pub warmup: Option<String>,
    /// Seed of bodies and round order [42]
    #[arg(long, global = true, value_name = "N", hide = true, allow_negative_numbers = true)]
    pub seed: Option<String>,
    /// Worker threads of the server [CPUs of its set]
    #[arg(long, global = true, value_name = "LIST", hide = true, allow_negative_numbers = true)]
    pub server_threads: Vec<String>,
    /// Worker threads of the load generator [CPUs of its set]
    #[arg(long, global = true, value_name = "LIST", hide = true, allow_negative_numbers = true)]
    pub client_threads: Vec<String>,
    /// CPU sets of server and client: auto, off, or S:C such as 0-3:4-15 [auto]
    #[arg(long, global = true, value_name = "SETS", hide = true)]
    pub pin: Option<String>,
    /// Limit per call, the same for every system [5s]
    #[arg(long, global = true, value_name = "TIME", hide = true, allow_negative_numbers = true)]
    pub timeout: Option<String>,
    /// Failed calls allowed in a cell [0]
    #[arg(long, global = true, value_name = "N", hide = true, allow_negative_numbers = true)]
    pub max_errors: Option<String>,
    /// Compare replies byte for byte: full, sample:N or off [full]
    #[arg(long, global = true, value_name = "HOW", hide = true)]
    pub verify: Option<String>,
    /// Confidence level of all intervals, 0.5 to 0.9999 [0.99]
    #[arg(long, global = true, value_name = "LEVEL", hide = true, allow_negative_numbers = true)]
    pub confidence: Option<String>,
    /// Ratios this close to 1 are ties, 0 to 50% [1%]
    #[arg(long, global = true, value_name = "PERCENT", hide = true, allow_negative_numbers = true)]
    pub noise_threshold: Option<String>,
    /// Separate short pass that counts allocations per request: on off [on]
    #[arg(long, global = true, value_name = "ON|OFF", hide = true)]
    pub allocs: Option<String>,
    /// Measure the first baseline a second time under another name, to show the noise floor: on off [on]
    #[arg(long, global = true, value_name = "ON|OFF", hide = true)]
    pub aa: Option<String>,
    /// Outputs: table json csv [table,json,csv]
    #[arg(long, global = true, value_name = "LIST", hide = true)]
    pub format: Vec<String>,
    /// Name of this run in files and reports, [A-Za-z0-9._-]{1,64} [run]
    #[arg(long, global = true, value_name = "TEXT", hide = true)]
    pub label: Option<String>,
    /// Progress on standard error: auto bar plain none [auto]
    #[arg(long, global = true, value_name = "KIND", hide = true)]
    pub progress: Option<String>,
    /// Colour: auto always never; NO_COLOR is honoured [auto]
    #[arg(long, global = true, value_name = "WHEN", hide = true)]
    pub color: Option<String>,
    /// Per-round lines
    #[arg(short, long, global = true, action = clap::ArgAction::Count, hide = true)]
    pub verbose: u8,
    /// Exit 5 if a validity flag is raised or a verdict is inconclusive
    #[arg(long, global = true, hide = true)]
    pub strict: bool,
    /// Run in a debug build
    #[arg(long, global = true, hide = true)]
    pub allow_debug: bool,
    /// Systems by name instead of codecs and transports, baselines included; for `serve`, which one
    #[arg(long, global = true, value_name = "LIST", hide = true)]
    pub system: Vec<String>,
}

/// What a command line asks for at once, without measuring.
#[derive(Debug)]
pub enum Parsed {
    /// To do something.
    Command(Box<Cli>),
    /// To print this.
    Text(String),
}

/// Splits the command line.
///
/// # Errors
///
/// [`Failure::Usage`] for what clap can not make sense of.
pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Parsed, Failure> {
    let matches = match Cli::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => return Ok(Parsed::Text(error.render().to_string())),
        Err(error) => return Err(complaint(&error)),
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| complaint(&error))?;
    match &cli.command {
        Some(Command::Help { topic }) => help(topic.as_deref()).map(Parsed::Text),
        _ => Ok(Parsed::Command(Box::new(cli))),
    }
}

fn help(topic: Option<&str>) -> Result<String, Failure> {
    let mut command = Cli::command();
    match topic {
        None => Ok(command.render_help().to_string()),
        Some("all") => Ok(command.mut_args(|arg| arg.hide(false)).after_help("").render_help().to_string()),
        Some(name) => {
            let found = command.find_subcommand_mut(name).map(|sub| sub.render_help().to_string());
            found.ok_or_else(|| {
                let names: Vec<String> =
                    Cli::command().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
                values::unknown("command", name, &names.iter().map(String::as_str).collect::<Vec<_>>())
            })
        }
    }
}

/// clap's complaint in our two lines.
fn complaint(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    Failure::usage(what, tip.unwrap_or("bench help all shows every flag"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        std::iter::once("bench").chain(line.split_whitespace()).map(str::to_owned).collect()
    }

    fn cli(line: &str) -> Cli {
        match parse(words(line)).expect("a good line") {
            Parsed::Command(cli) => *cli,
            Parsed::Text(text) => panic!("{text}"),
        }
    }

    fn text(line: &str) -> String {
        match parse(words(line)).expect("a good line") {
            Parsed::Command(cli) => panic!("{cli:?}"),
            Parsed::Text(text) => text,
        }
    }

    #[test]
    fn clap_is_content() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_before_and_after_the_command() {
        let bare = cli("--codec thrift --transport mux --concurrency 400");
        assert_eq!(bare.command, None);
        for line in ["run --codec thrift --transport mux -c 400", "--codec thrift --transport mux -c 400 run"]
        {
            let cli = cli(line);
            assert_eq!(cli.command, Some(Command::Run));
            assert_eq!(cli.flags, bare.flags, "{line}");
        }
    }

    #[test]
    fn twelve_flags_in_the_help() {
        let help = text("--help");
        let flags = help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .filter(|line| !line.contains("--help") && !line.contains("--version"));
        assert_eq!(flags.count(), 12, "{help}");
        assert!(!help.contains("--noise-threshold"));
        let all = text("help all");
        for flag in ["--noise-threshold", "--allow-debug", "--codec", "--pin"] {
            assert!(all.contains(flag), "{flag}");
        }
    }

    #[test]
    fn complaints_are_ours() {
        let failure = parse(words("--concurency 5")).unwrap_err();
        assert_eq!(failure.code(), 2);
        assert!(failure.to_string().starts_with("error: unexpected argument '--concurency' found\nhint: "));
        assert_eq!(parse(words("help nonsense")).unwrap_err().code(), 2);
    }
}
