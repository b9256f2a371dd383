//! Input that is not meant well: nothing panics, overflows the stack or runs for long.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Checks a file, and prints every report: rendering must not fail either.
fn survive(bytes: Vec<u8>) {
    let mut files = Memory::new(&[("shared.thrift", SHARED), ("sub/other.thrift", OTHER)]);
    files.0.push(("a.thrift", bytes));
    match check(&files) {
        Ok(checked) => {
            for warning in &checked.warnings {
                assert!(!warning.render(&checked.sources).is_empty());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.diagnostics().is_empty()),
    }
}

/// The same inputs in every run.
fn for_all<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&strategy, |value| {
        test(value);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn any_bytes() {
    for_all(400, prop::collection::vec(any::<u8>(), 0..400), survive);
}

#[test]
fn any_row_of_words() {
    let words = vec![
        "struct",
        "union",
        "exception",
        "enum",
        "service",
        "const",
        "typedef",
        "include",
        "namespace",
        "extends",
        "throws",
        "oneway",
        "required",
        "optional",
        "list",
        "map",
        "set",
        "i32",
        "string",
        "cpp_type",
        "A",
        "b",
        "shared.Color",
        "'shared.thrift'",
        "\"a\\n\"",
        "1",
        "-1",
        "0x7f",
        "1.5",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        ",",
        ";",
        ":",
        "=",
        "*",
        "&",
        "/** d */",
        "// c\n",
        "\n",
        "\r\n",
        "é",
        "@",
    ];
    let row = prop::collection::vec(prop::sample::select(words), 0..120);
    for_all(600, row, |words| survive(words.join(" ").into_bytes()));
}

#[test]
fn valid_files_with_parts_removed_doubled_or_overwritten() {
    let change = (any::<prop::sample::Index>(), 0..60usize, 0..3u8, any::<u8>());
    let changes = prop::collection::vec(change, 1..5);
    for_all(500, (prop::sample::select(vec![TORTURE, ECHO]), changes), |(text, changes)| {
        let mut bytes = text.as_bytes().to_vec();
        for (place, length, kind, byte) in changes {
            if bytes.is_empty() {
                break;
            }
            let start = place.index(bytes.len());
            let end = (start + length).min(bytes.len());
            match kind {
                0 => drop(bytes.drain(start..end)),
                1 => {
                    let copy = bytes[start..end].to_vec();
                    bytes.splice(start..start, copy);
                }
                _ => bytes[start] = byte,
            }
        }
        survive(bytes);
    });
}

#[test]
fn every_beginning_of_a_valid_file() {
    for end in 0..TORTURE.len() {
        survive(TORTURE.as_bytes()[..end].to_vec());
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = 100_000;
    for (open, middle, close) in [("list<", "i32", ">"), ("map<i32,", "i32", ">")] {
        let found =
            refuse(&format!("struct S {{ 1: {}{middle}{} a }}", open.repeat(deep), close.repeat(deep)));
        assert!(found[0].contains("this type is nested too deeply"), "{}", found[0]);
    }
    for (open, close) in [("[", "]"), ("{1:", "}")] {
        let found =
            refuse(&format!("const i32 A = {}1{}\nstruct S {{}}", open.repeat(deep), close.repeat(deep)));
        assert!(found[0].contains("this constant is nested too deeply"), "{}", found[0]);
    }
    survive("{".repeat(deep).into_bytes());
    survive("struct S {".repeat(1000).into_bytes());
    survive("service S { void f(".repeat(1000).into_bytes());
}

#[test]
fn long_chains_of_definitions_need_no_stack() {
    let chain: String =
        (0..30_000).map(|index| format!("struct S{index} {{ 1: optional S{} a }}\n", index + 1)).collect();
    let (model, _) = accept(&format!("{chain}struct S30000 {{}}"));
    assert!(structure(&model, "S7").fields.iter().all(|field| !field.boxed));
    let (model, _) = accept(&format!("{chain}struct S30000 {{ 1: optional S0 a }}"));
    assert!(structure(&model, "S7").fields.iter().all(|field| field.boxed));
    let typedefs: String = (0..30_000).map(|index| format!("typedef T{} T{index}\n", index + 1)).collect();
    accept(&format!("{typedefs}typedef i32 T30000"));
}

#[test]
fn very_long_lines_and_names() {
    let name = "x".repeat(200_000);
    let (model, _) = accept(&format!("struct {name} {{ 1: i32 {name} }}"));
    assert_eq!(model.types()[0].head.name.len(), name.len());
    let error = check(&with_neighbours(&format!("struct S {{ 1: {name} a }}"))).unwrap_err();
    assert!(error.to_string().contains("a.thrift:1:15"));
}
