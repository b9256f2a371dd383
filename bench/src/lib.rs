//! Every codec and transport against tonic.
//!
//! The driver starts a fresh server process and a fresh load process for every round, on their own CPUs, lets the
//! systems take turns, verifies every reply, and compares what it saw by intervals of ratios.
//!
//! ```text
//! driver ── control ──► bench serve   server CPUs
//!    └───── control ──► bench load    client CPUs, one closed loop for each virtual client
//! ```
//!
//! Read [`system`] first (what is measured, and where to add to it), then [`load`] (how a call is timed) and
//! [`stats`] (what is made of the times).

pub mod alloc;
pub mod analysis;
pub mod busy;
pub mod child;
pub mod cli;
pub mod command;
pub mod control;
pub mod cpus;
pub mod drive;
pub mod environment;
pub mod exit;
pub mod interrupt;
pub mod load;
pub mod message;
pub mod plan;
pub mod process;
pub mod report;
pub mod stats;
pub mod system;
pub mod systems;
pub mod work;

use std::process::ExitCode;

/// The program: does what the command line says and exits with the code that [`exit`] lists.
pub fn main() -> ExitCode {
    match command::run(std::env::args_os()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let text = failure.to_string();
            if !text.is_empty() {
                eprintln!("{text}");
            }
            ExitCode::from(failure.code())
        }
    }
}
