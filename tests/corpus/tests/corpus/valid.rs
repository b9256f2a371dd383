//! Every right schema: what is said about it, and its samples there and back. `build.rs` made the list, and that all of it
//! compiles is the first test.
#![allow(clippy::unwrap_used, reason = "tests")]

use tests_corpus::{expected, folder, samples};

include!(concat!(env!("OUT_DIR"), "/tests.rs"));

fn check(schema: &str, language: &str) {
    let file = folder("idl").join(format!("{schema}.{language}"));
    let expected = expected(&file).unwrap();
    assert_eq!(expected.errors, Vec::<String>::new());
    if language == "thrift" {
        let checked = rpc_build::thrift::check(&[file], &[]).unwrap();
        let warnings = checked.warnings.iter().map(|warning| warning.one_line(&checked.sources));
        let warnings: Vec<String> = warnings.map(|line| line.replace(&parent(), "")).collect();
        assert_eq!(warnings, expected.warnings);
    }
    for sample in samples().iter().filter(|sample| sample.schema == schema) {
        sample.round_trips();
    }
}

fn parent() -> String {
    format!("{}/", folder("idl").display())
}

#[test]
fn there_are_enough_of_both() {
    let count = |name: &str| {
        let entries = std::fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|file| file.is_file()).count()
    };
    assert!(count("idl") >= 60 && count("invalid") >= 40, "{} {}", count("idl"), count("invalid"));
}
