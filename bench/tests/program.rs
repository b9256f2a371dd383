//! The program as its users run it: exit codes, output, files, and what is left behind. Nothing here depends on how
//! fast anything is; rounds are given as numbers of requests.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::child::Ready;
use bench::report::result_line::{KEYS, ResultLine};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A folder that does not exist yet, removed with what is in it at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("bench-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn bench(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(line.split_whitespace()).stdin(Stdio::null());
    command
}

fn run(line: &str, out: &Path) -> Output {
    bench(line).arg("--out").arg(out).output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A quick round of a few thousand requests, in whatever build this is.
const SMALL: &str = "--allow-debug --warmup 20ms -n 2000 -c 8 --pin off --progress plain";

fn result_lines(stdout: &str) -> Vec<ResultLine> {
    stdout
        .lines()
        .filter(|line| line.starts_with("RESULT"))
        .map(|line| line.parse().expect("a RESULT line"))
        .collect()
}

#[test]
fn a_run_ends_with_its_result() {
    let folder = Folder::new();
    let output = run(&format!("{SMALL} --system raw-tcp -r 2"), folder.path());
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", text(&output.stderr));
    let last = stdout.lines().last().expect("output");
    let result: ResultLine = last.parse().expect("a RESULT line at the end");
    assert_eq!(result.system, "raw-tcp");
    assert_eq!(result.fields.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), KEYS);
    assert_eq!(result.get("errors"), Some("0"));
    assert!(result.get("vs").is_some_and(|vs| vs.starts_with("tonic")), "{last}");
    assert_eq!(result.get("out"), folder.path().to_str());

    let json = fs::read_to_string(folder.path().join("result.json")).expect("result.json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let cells = json["cells"].as_array().expect("cells");
    let names: Vec<&str> = cells.iter().filter_map(|cell| cell["system"].as_str()).collect();
    assert_eq!(names, ["raw-tcp", "tonic", "tonic (A/A)", "tonic-tuned"]);
    for cell in cells {
        let rounds = cell["rounds"].as_array().expect("rounds");
        assert_eq!(rounds.len(), 2);
        assert!(rounds.iter().all(|round| round["recorded"] == 2000 && round["unbalanced"] == 0), "{cell}");
        // tonic allocates for every call, so a count that stayed at zero would be a broken counter.
        let allocations = &cell["cost"]["allocations"];
        let each = allocations["client"].as_f64().zip(allocations["server"].as_f64());
        assert!(each.is_some_and(|(client, server)| cell["system"] == "raw-tcp" || (client > 1.0 && server > 1.0)));
    }
    let csv = fs::read_to_string(folder.path().join("cells.csv")).expect("cells.csv");
    assert_eq!(csv.lines().count(), 5);
    // Standard error had a line for each round.
    assert_eq!(text(&output.stderr).lines().filter(|line| line.contains("req/s")).count(), 8);
}

#[test]
fn quiet_prints_the_result_only() {
    let folder = Folder::new();
    let output =
        run(&format!("{SMALL} -q --system raw-tcp --baseline none -r 1 --allocs off"), folder.path());
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", text(&output.stderr));
    assert_eq!(stdout.lines().count(), 1);
    let result = &result_lines(&stdout)[0];
    assert_eq!((result.get("vs"), result.get("verdict")), (Some("none"), Some("none")));
    assert!(output.stderr.is_empty());
}

#[test]
fn bad_input_leaves_nothing_behind() {
    for (line, code, said) in [
        ("--codec thirft", 2, "error: unknown codec 'thirft'\nhint: did you mean thrift?"),
        ("--system raw-tcp --concurrency 0", 2, "error: --concurrency: '0' is not allowed"),
        ("--system raw-tcp --concurrency -5", 2, "error: --concurrency: '-5' is not allowed"),
        ("--system raw-tcp --baseline grpc-go", 7, "error: no baseline 'grpc-go'"),
        ("--system raw-tcp --nonsense", 2, "error: unexpected argument '--nonsense'"),
        ("load --system raw-tcp --allow-debug", 2, "error: load needs --target"),
    ] {
        let folder = Folder::new();
        let output = run(line, folder.path());
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
        assert!(text(&output.stderr).starts_with(said), "{line}: {}", text(&output.stderr));
        assert!(!folder.path().exists(), "{line}");
    }
}

#[test]
fn a_debug_build_refuses_to_measure() {
    let folder = Folder::new();
    let output = run("--system raw-tcp --profile smoke -n 100", folder.path());
    if cfg!(debug_assertions) {
        assert_eq!(output.status.code(), Some(4));
        assert!(text(&output.stderr).contains("debug build"));
        assert!(!folder.path().exists());
    } else {
        assert!(output.status.success());
    }
}

#[test]
fn a_dry_run_is_a_function_of_the_seed() {
    let plan = |seed: u32| {
        let folder = Folder::new();
        let output = run(&format!("--system raw-tcp --dry-run -c 1,400 --seed {seed}"), folder.path());
        assert!(output.status.success());
        assert!(!folder.path().exists());
        text(&output.stdout)
    };
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1), plan(2));
    assert!(
        plan(1).starts_with("raw-tcp, tonic, tonic again (A/A), tonic-tuned × 2 settings × 5 rounds × (")
    );
}

#[test]
fn lists_and_help() {
    let output = bench("list").output().expect("the program");
    assert!(output.status.success() && text(&output.stdout).contains("tonic-tuned"));
    let output = bench("help all").output().expect("the program");
    assert!(output.status.success() && text(&output.stdout).contains("--noise-threshold"));
}

/// A server of its own with a load that finds it by address.
#[test]
fn serve_and_load_are_run_in_two_halves() {
    let mut server =
        bench("serve --system tonic --pin off").stdout(Stdio::piped()).spawn().expect("the program");
    let mut line = String::new();
    let mut stdout = BufReader::new(server.stdout.take().expect("its output"));
    stdout.read_line(&mut line).expect("a line");
    let ready: Ready = serde_json::from_str(line.strip_prefix("READY ").expect("READY")).expect("JSON");
    let target = ready.addr.expect("an address");

    let folder = Folder::new();
    let flags = format!(
        "load --target {target} --control {} {SMALL} --system raw-tcp -r 2 --baseline none",
        ready.control
    );
    let output = run(&flags, folder.path());
    end(&mut server);
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", text(&output.stderr));
    let result = &result_lines(&stdout)[0];
    assert_eq!((result.system.as_str(), result.get("errors")), ("raw-tcp", Some("0")));
    let json = fs::read_to_string(folder.path().join("result.json")).expect("result.json");
    assert!(json.contains("\"loopback\": false"));
}

#[test]
fn nobody_at_the_address() {
    let folder = Folder::new();
    // Port 1 of the loopback address: nothing listens there, so the connection is refused.
    let line = format!("load --target 127.0.0.1:1 --control 127.0.0.1:1 {SMALL} --system raw-tcp");
    let output = run(&line, folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).starts_with("error: no answer from 127.0.0.1:1"),
        "{}",
        text(&output.stderr)
    );
}

/// After Ctrl-C: what was complete is saved, the code says so, and no process is left.
#[test]
fn an_interrupt_saves_and_leaves_no_child() {
    let folder = Folder::new();
    let line = "--allow-debug --warmup 0s -n 500 -c 4 --pin off --progress plain --system raw-tcp --aa off \
                --baseline tonic -r 1000 --allocs off";
    let mut program = bench(line)
        .arg("--out")
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut stderr = BufReader::new(program.stderr.take().expect("its errors")).lines();
    // Four rounds of two systems: two blocks are complete.
    let rounds = stderr.by_ref().map_while(Result::ok).filter(|line| line.contains("req/s")).take(4).count();
    assert_eq!(rounds, 4);
    kill(Pid::from_raw(i32::try_from(program.id()).expect("a pid")), Signal::SIGINT).expect("a signal");
    let mut stdout = String::new();
    program.stdout.take().expect("its output").read_to_string(&mut stdout).expect("text");
    assert_eq!(program.wait().expect("an end").code(), Some(130));
    // Its children hold the other end of this pipe, so the end of the text is the end of the last of them.
    assert!(stderr.map_while(Result::ok).any(|line| line == "error: interrupted"));
    assert_eq!(result_lines(&stdout).len(), 1);
    let json = fs::read_to_string(folder.path().join("result.json")).expect("result.json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["cells"][0]["rounds"].as_array().is_some_and(|rounds| rounds.len() >= 2));
}

/// A driver that is killed outright takes its children with it.
#[test]
fn children_do_not_outlive_a_killed_driver() {
    let folder = Folder::new();
    let mut program =
        bench("--allow-debug -c 4 --pin off --progress plain --system raw-tcp --warmup 0s -n 500 -r 1000")
            .arg("--out")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
    let mut stderr = BufReader::new(program.stderr.take().expect("its errors"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("a round");
    end(&mut program);
    // Ends only when every process that holds the pipe has ended.
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert!(!folder.path().exists());
}

/// A reader who leaves is no error.
#[test]
fn a_closed_output_is_a_quiet_end() {
    let mut program = bench("--dry-run --system raw-tcp -r 1000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    drop(program.stdout.take());
    let output = program.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

fn end(program: &mut Child) {
    program.kill().expect("it runs");
    program.wait().expect("an end");
}
