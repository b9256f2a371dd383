//! The processes that do the work: this same program, started afresh for every round.
//!
//! - [`server`]: a server and its control connection.
//! - [`load`]: a load generator and its control connection.
//! - [`runtime`]: the tokio runtime of either, with its threads on their CPUs.
//! - [`spawn`]: the driver's side.

pub mod load;
pub mod runtime;
pub mod server;
pub mod spawn;

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};
use serde::{Deserialize, Serialize};

use crate::control::link::Link;
use crate::system::BoxError;

/// What a child prints when it is ready, after the word `READY`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Where it serves; none for a load generator.
    pub addr: Option<SocketAddr>,
    /// Where it takes orders.
    pub control: SocketAddr,
    /// Its process id.
    pub pid: u32,
    /// Version of the program.
    pub version: String,
}

/// The version that both ends of a control connection must share.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A driver that started a child connects to it within this time.
const DRIVER_CONNECTS: Duration = Duration::from_secs(10);

/// Ends this process when its parent does, however that one ends.
///
/// # Errors
///
/// If the parent is gone already.
fn die_with_parent(parent: u32) -> Result<(), BoxError> {
    set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before the line above.
    let expected = Pid::from_raw(i32::try_from(parent)?);
    if getppid() != expected { Err("the parent has ended".into()) } else { Ok(()) }
}

/// Says that this process is ready and waits for the driver to connect.
fn ready(addr: Option<SocketAddr>) -> Result<Link, BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let control = listener.local_addr()?;
    let ready = Ready { addr, control, pid: std::process::id(), version: VERSION.to_owned() };
    announce(&ready)?;
    listener.set_nonblocking(true)?;
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(Link::new(stream)?);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if start.elapsed() > DRIVER_CONNECTS {
                    return Err("nobody connected to the control port".into());
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Prints the line that tells a parent that this process is ready.
///
/// # Errors
///
/// If standard output is closed.
pub fn announce(ready: &Ready) -> Result<(), BoxError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "READY {}", serde_json::to_string(ready)?)?;
    Ok(out.flush()?)
}
