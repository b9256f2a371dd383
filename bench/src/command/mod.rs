//! One file for each command.

pub mod busy_handlers;
pub mod calibrate;
pub mod measure;
pub mod serve;

use std::ffi::OsString;

use crate::child;
use crate::cli::settings::{Machine, Settings, resolve};
use crate::cli::{Cli, Command, Flags, Parsed, parse};
use crate::control::messages::{ClientOrder, ServerOrder};
use crate::environment;
use crate::exit::Failure;
use crate::report::screen::{say, say_all};
use crate::system::registry;
use crate::{interrupt, process};

/// Files that a process needs beside its connections.
const OTHER_FILES: u64 = 64;

/// Does what the command line says.
///
/// # Errors
///
/// Why it ends with something other than 0.
pub fn run(words: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| {
            word.into_string().map_err(|word| Failure::usage(format!("{word:?} is not UTF-8"), "use UTF-8"))
        })
        .collect::<Result<_, _>>()?;
    let line = words.join(" ");
    let cli = match parse(words)? {
        Parsed::Text(text) => return say(text.trim_end()),
        Parsed::Command(cli) => *cli,
    };
    let Cli { command, flags } = cli;
    match command.unwrap_or(Command::Run) {
        Command::Serve(serve) => match (&serve.order, serve.parent) {
            (Some(order), Some(parent)) => {
                let order: ServerOrder = serde_json::from_str(order).map_err(Failure::internal)?;
                child::server::run(&order, parent).map_err(Failure::internal)
            }
            _ => serve::run(&serve, &flags),
        },
        Command::Load(load) => match (&load.order, load.parent) {
            (Some(order), Some(parent)) => {
                let order: ClientOrder = serde_json::from_str(order).map_err(Failure::internal)?;
                child::load::run(&order, parent).map_err(Failure::internal)
            }
            _ => {
                let address = |given: &Option<String>, flag: &str| {
                    let text = given.as_deref().ok_or_else(|| {
                        Failure::usage(format!("load needs {flag}"), "the address that `bench serve` printed")
                    })?;
                    serve::address(flag, text)
                };
                let target = address(&load.target, "--target")?;
                let control = address(&load.control, "--control")?;
                let (settings, machine) = prepare(&flags)?;
                measure::remote(&settings, &machine, &line, target, control)
            }
        },
        Command::Run => {
            let (settings, machine) = prepare(&flags)?;
            measure::run(&settings, &machine, &line, measure::Shape::Table)
        }
        Command::Matrix => {
            let (settings, machine) = prepare(&flags)?;
            measure::run(&settings, &machine, &line, measure::Shape::Matrix)
        }
        Command::Calibrate => {
            let (settings, machine) = prepare(&with_system(flags, "raw-tcp"))?;
            calibrate::run(&settings, &machine, &line)
        }
        Command::BusyHandlers => {
            let ours = registry::all().iter().any(|entry| entry.ours);
            let (settings, _) = prepare(&if ours { flags } else { with_system(flags, "tonic") })?;
            busy_handlers::run(&settings)
        }
        Command::List => say_all(environment::list()),
        Command::Help { .. } => Ok(()),
    }
}

/// Resolves the flags and checks that this build and this machine are fit to measure.
fn prepare(flags: &Flags) -> Result<(Settings, Machine), Failure> {
    let machine = Machine::here();
    let settings = resolve(flags, &machine)?;
    if cfg!(debug_assertions) && !flags.allow_debug && !settings.dry_run {
        return Err(Failure::Unfit {
            what: "this is a debug build, and a figure from one is worthless".to_owned(),
            hint:
                "cargo run -p bench (the dev profile equals release), or --allow-debug to run it all the same"
                    .to_owned(),
        });
    }
    let most = settings.conditions.iter().map(|c| c.connections.max(c.pool_size).max(c.concurrency)).max();
    let needed = most.unwrap_or(0) as u64 + OTHER_FILES;
    process::allow_files(needed).map_err(|allowed| Failure::Unfit {
        what: format!("{needed} open files are needed, {allowed} are allowed"),
        hint: "lower --concurrency, or raise the hard limit (ulimit -Hn)".to_owned(),
    })?;
    interrupt::listen().map_err(Failure::internal)?;
    for note in &settings.notes {
        eprintln!("note: {note}");
    }
    Ok((settings, machine))
}

/// For commands that have something to measure even when nothing is named.
fn with_system(mut flags: Flags, name: &str) -> Flags {
    if flags.codec.is_empty() && flags.transport.is_empty() && flags.system.is_empty() {
        flags.system.push(name.to_owned());
    }
    flags
}
