//! Other projects' programs as child processes.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long a program may take for what a test asks of it. It bounds a hanging test; nothing depends on the speed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that is not here, and how to get it.
#[derive(Clone, Debug)]
pub struct Missing {
    name: String,
    how: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: {}", self.name, self.how)
    }
}

/// Whether a missing program is a failure (`RPC_PEERS=required`), as it is in CI.
pub fn required() -> bool {
    std::env::var_os("RPC_PEERS").is_some_and(|value| value == "required")
}

/// What `tests/peers/install` made, by its path in `target/peers`.
///
/// # Errors
/// When it is not there.
pub fn made(path: &str) -> Result<PathBuf, Missing> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
    let part = path.split('/').next().unwrap_or(path);
    let file = peers.join(path);
    // The stamp is written last.
    if file.is_file() && peers.join(part).join(".made").is_file() {
        Ok(file)
    } else {
        Err(Missing { name: format!("target/peers/{path}"), how: "run tests/peers/install" })
    }
}

/// A program on the PATH.
///
/// # Errors
/// When it is not there.
pub fn installed(name: &str, how: &'static str) -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file()).ok_or_else(|| Missing { name: name.into(), how })
}

/// The path of a script.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name)
}

/// A program with its arguments.
pub fn command(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true).stdin(Stdio::null());
    command
}

/// Runs a program to its end; returns what it printed.
///
/// # Panics
/// When it fails, or does not end.
pub async fn run(mut command: Command) -> String {
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

/// Runs a program that makes checks and counts them.
///
/// # Panics
/// When one of them fails, or another number was made.
pub async fn run_checks(command: Command, checks: usize) {
    let printed = run(command).await;
    assert!(printed.trim_end().ends_with(&format!("{checks} passed, 0 failed")), "{printed}");
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Running {
    _child: Child,
    /// Where it listens.
    pub address: String,
}

/// Starts a server that chooses its port and says so, in a line `listening HOST:PORT`.
///
/// # Panics
/// When it does not start.
pub async fn serve(mut command: Command) -> Running {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let listening = async {
        while let Some(line) = lines.next_line().await.expect("its output is text") {
            if let Some(address) = line.strip_prefix("listening ") {
                return address.trim().to_owned();
            }
        }
        panic!("the program ended, or closed its output, before it listened");
    };
    let address = timeout(PATIENCE, listening).await.expect("the program listens");
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Running { _child: child, address }
}

/// A program that is told things while it runs, and tells some, line by line.
#[derive(Debug)]
pub struct Conversation {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Conversation {
    /// Starts it.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output")).lines();
        Self { child, input, output }
    }

    /// Waits until it says a line that begins so; returns the rest of that line.
    ///
    /// # Panics
    /// When it does not.
    pub async fn hear(&mut self, begin: &str) -> String {
        let heard = async {
            let mut others = Vec::new();
            while let Some(line) = self.output.next_line().await.expect("its output is text") {
                match line.strip_prefix(begin) {
                    Some(rest) => return rest.to_owned(),
                    None => others.push(line),
                }
            }
            panic!("the program closed its output and did not say {begin:?}: {others:#?}");
        };
        timeout(PATIENCE, heard).await.unwrap_or_else(|_| panic!("the program does not say {begin:?}"))
    }

    /// Tells it a line.
    ///
    /// # Panics
    /// When it does not listen.
    pub async fn tell(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.expect("the program reads its input");
    }

    /// Waits for its end; returns the lines that it said until then.
    ///
    /// # Panics
    /// When it fails, or does not end.
    pub async fn end(mut self) -> Vec<String> {
        let said = async {
            let mut said = Vec::new();
            while let Some(line) = self.output.next_line().await.expect("its output is text") {
                said.push(line);
            }
            let status = self.child.wait().await.expect("it was not waited for");
            assert!(status.success(), "{status}: {said:#?}");
            said
        };
        timeout(PATIENCE, said).await.expect("the program ends")
    }
}
