//! Other projects' programs as child processes.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a program may take for what a test asks of it. It bounds a hanging test; nothing depends on the speed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The Python of `tests/peers/install`.
///
/// # Panics
/// Where the peers are required (`RPC_PEERS=required`) and it is missing.
pub fn python() -> Option<PathBuf> {
    let python = root().join("target/peers-venv/bin/python");
    found(python.is_file().then_some(python), "the peers' Python", "run tests/peers/install")
}

/// A program on the PATH.
///
/// # Panics
/// Where the peers are required and it is missing.
pub fn installed(name: &str, how: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    found(program, name, how)
}

fn found(program: Option<PathBuf>, name: &str, how: &str) -> Option<PathBuf> {
    if program.is_none() {
        let required = std::env::var_os("RPC_PEERS").is_some_and(|value| value == "required");
        assert!(!required, "{name} is missing: {how}");
        eprintln!("skipped: {name} is missing; to run this test: {how}");
    }
    program
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).expect("the workspace's folder")
}

/// The path of a script.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name)
}

/// Runs a program to its end; returns what it printed.
///
/// # Panics
/// When it fails, or does not end.
pub async fn run(command: &mut Command) -> String {
    command.kill_on_drop(true).stdin(Stdio::null());
    let output =
        timeout(PATIENCE, command.output()).await.expect("the program ends").expect("the program starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{printed}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Running {
    _child: Child,
    /// Where it listens.
    pub address: String,
}

/// Starts a server on a free port of 127.0.0.1; `arrange` gets the host and the port.
///
/// # Panics
/// When it does not start.
pub async fn serve(program: &Path, arrange: impl FnOnce(&mut Command, &str, u16)) -> Running {
    // The port is free now; the programs can not choose one themselves and say so.
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
    let mut command = Command::new(program);
    arrange(&mut command, "127.0.0.1", port);
    let mut child = command
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let address = format!("127.0.0.1:{port}");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let listening = async {
        // Not every program says when it listens, and some say it before they do.
        while TcpStream::connect(&address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, listening).await.expect("the program listens");
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Running { _child: child, address }
}
