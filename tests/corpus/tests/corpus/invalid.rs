//! Every wrong schema gives the errors and warnings that it says it has, no more and no less, each with its place.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rpc_build::diagnostic::{Diagnostic, Severity};
use tests_corpus::{Expected, expected, folder};

/// Far more than any of them takes. It bounds what would otherwise run without end.
const LONG: Duration = Duration::from_secs(30);

fn schemas() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder("invalid")).unwrap().map(|entry| entry.unwrap().path());
    let mut schemas: Vec<PathBuf> = entries.filter(|file| file.is_file()).collect();
    schemas.sort();
    schemas
}

/// What is said about a schema, with the folder of the schemas left out; nothing if it is taken.
fn found(file: &Path) -> Expected {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("never written");
    let _ = std::fs::remove_dir_all(&out);
    let Err(error) = rpc_build::configure().out_dir(&out).compile([file]) else { return Expected::default() };
    assert!(!out.exists(), "something was written for {}", file.display());
    let parent = format!("{}/", file.parent().unwrap().display());
    let lines = |severity: Severity| -> Vec<String> {
        let of = error.diagnostics().iter().filter(|found| found.severity() == severity);
        of.map(|found: &Diagnostic| found.one_line(error.sources()).replace(&parent, "")).collect()
    };
    // and all of it can be shown to people
    assert!(error.to_string().contains("in the schemas"));
    Expected { errors: lines(Severity::Error), warnings: lines(Severity::Warning) }
}

#[test]
fn each_has_the_errors_that_it_says() {
    let mut wrong = Vec::new();
    for file in schemas() {
        let started = Instant::now();
        let (found, expected) = (found(&file), expected(&file).unwrap());
        assert!(started.elapsed() < LONG, "{}", file.display());
        if found != expected || expected.errors.is_empty() {
            wrong.push(format!("{}\nfound    {found:#?}\nexpected {expected:#?}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
