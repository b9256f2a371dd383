//! Starting a child and talking to it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use std::os::unix::process::CommandExt;

use super::{Ready, VERSION};
use crate::control::link::{Link, LinkError};
use crate::interrupt;

/// A child says that it is ready within this time.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// A control connection on this machine stands within this time.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Why a child is of no use.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// It could not be started.
    #[error("starting a process: {0}")]
    Start(#[from] std::io::Error),
    /// It ended or kept silent before it was ready.
    #[error("{role} was not ready: {reason}")]
    NotReady {
        /// What it was to be.
        role: &'static str,
        /// What it said, or that it said nothing.
        reason: String,
    },
    /// Its control connection failed.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// A child process, ended when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// What it said when it was ready.
    pub ready: Ready,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Starts `bench <role> --order <json>` and connects to it.
///
/// # Errors
///
/// If it does not come up.
pub fn spawn(role: &'static str, order: &str) -> Result<(Process, Link), SpawnError> {
    let process = start(role, order)?;
    let link = Link::connect(process.ready.control, CONNECT_WITHIN)?.interrupted_by(interrupt::requested);
    Ok((process, link))
}

fn start(role: &'static str, order: &str) -> Result<Process, SpawnError> {
    // Not `current_exe`: this path leads to the running program even after a rebuild has replaced the file.
    let mut child = Command::new("/proc/self/exe")
        .args([role, "--order", order, "--parent", &std::process::id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        // Ctrl-C is for the driver, which ends its children in its own time.
        .process_group(0)
        .spawn()?;
    let output = child.stdout.take();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let Some(output) = output else { return };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        let read = output.by_ref().take(1 << 16).read_line(&mut line);
        send.send(read.map(|_| line)).ok();
        // Whatever else it prints must not block it.
        std::io::copy(&mut output, &mut std::io::sink()).ok();
    });
    let line = receive.recv_timeout(READY_WITHIN);
    let not_ready = |reason: String| SpawnError::NotReady { role, reason };
    let ready = match line {
        Ok(Ok(line)) => {
            line.strip_prefix("READY ").and_then(|json| serde_json::from_str::<Ready>(json).ok()).ok_or_else(
                || not_ready(if line.is_empty() { "it ended".into() } else { line.trim().to_owned() }),
            )
        }
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(not_ready(format!("nothing heard within {} s", READY_WITHIN.as_secs()))),
    };
    match ready {
        Ok(ready) if ready.version == VERSION => Ok(Process { child, ready }),
        other => {
            child.kill().ok();
            child.wait().ok();
            Err(other.err().unwrap_or_else(|| not_ready("it is of another version".into())))
        }
    }
}
