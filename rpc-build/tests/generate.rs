//! What a build script gets, from outside.
#![cfg(all(feature = "thrift", feature = "proto"))]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SCHEMAS: [&str; 4] =
    ["testdata/echo.thrift", "testdata/torture.thrift", "testdata/stream.proto", "testdata/comments.thrift"];

/// A folder of its own for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn generated(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn build(
    test: &str,
    change: impl FnOnce(rpc_build::Config) -> rpc_build::Config,
) -> BTreeMap<String, String> {
    let folder = folder(test);
    change(rpc_build::configure()).out_dir(&folder).compile(SCHEMAS).unwrap();
    generated(&folder)
}

#[test]
fn the_same_in_is_the_same_out() {
    let one = build("same-one", |config| config);
    let mut schemas = SCHEMAS;
    schemas.reverse();
    let folder = folder("same-two");
    // the order in which files are asked for, and how they are reached, shows nowhere
    let absolute = schemas.map(|schema| Path::new(env!("CARGO_MANIFEST_DIR")).join(schema));
    rpc_build::configure().out_dir(&folder).compile(absolute).unwrap();
    let two = generated(&folder);
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, text) in &one {
        assert!(*text == two[name], "{name} differs");
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")) && !text.contains("testdata"), "a path in {name}");
    }
}

#[test]
fn many_threads_write_the_same() {
    let one = build("threads", |config| config);
    let threads: Vec<_> = (0..16)
        .map(|thread| std::thread::spawn(move || build(&format!("thread-{thread}"), |config| config)))
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap() == one);
    }
}

#[test]
fn there_is_a_file_for_each_schema_and_one_for_all() {
    let files = build("names", |config| config);
    for stem in ["echo", "torture", "comments"] {
        assert_eq!(files[&format!("{stem}.rs")], files[&format!("{stem}.thrift.rs")]);
    }
    assert_eq!(files["stream.rs"], files["stream.proto.rs"]);
    for module in ["pub mod echo {", "pub mod probe {"] {
        assert!(files["rpc_idl.rs"].contains(module), "no {module}");
    }
    assert_eq!(files.len(), 9);
}

#[test]
fn a_second_build_touches_nothing() {
    let folder = folder("second");
    let config = rpc_build::configure().out_dir(&folder);
    config.compile(SCHEMAS).unwrap();
    let times = || -> BTreeMap<PathBuf, std::time::SystemTime> {
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap());
        files.map(|file| (file.path(), file.metadata().unwrap().modified().unwrap())).collect()
    };
    for (path, time) in times() {
        fs::File::open(path).unwrap().set_modified(time - Duration::from_secs(3600)).unwrap();
    }
    let before = times();
    config.compile(SCHEMAS).unwrap();
    assert_eq!(times(), before);
}

#[test]
fn the_library_may_have_another_path() {
    for (name, text) in build("crate-path", |config| config.crate_path("::base::rpc")) {
        assert!(text.contains("::base::rpc::codegen::"), "{name}");
        assert_eq!(text.replace("::base::rpc::", "").find("::rpc::"), None, "{name}");
    }
}

#[test]
fn serde_can_be_left_out() {
    for (name, text) in build("serde", |config| config.serde(false)) {
        assert_eq!(text.find("serde"), None, "{name}");
    }
    assert!(build("serde-default", |config| config)["echo.rs"].contains("codegen::serde::Serialize"));
}

#[test]
fn comments_become_docs_that_are_no_tests() {
    let text = &build("comments", |config| config)["comments.rs"];
    for line in [
        "/// At the top.\npub mod comments {",
        "/// A struct.\n    ///\n    ///   let not = \"a test\";\n    ///\n    /// ```text\n    /// nor this\n    /// ```",
        "/// A field.\n        pub a: i32",
        "#[deprecated(note = \"use a\")]\n        pub b: i32",
        "/// A value.\n        pub const ONE: Self = Self(1);",
        "/// A variant.\n        A(i32)",
        "/// A constant.\n    pub const LIMIT: i32 = 5;",
        "/// A service.\n    ///\n    /// What implements the service `Said`",
        "/// A method.\n        fn say(",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn what_users_write_against() {
    let text = &build("surface", |config| config)["echo.rs"];
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "pub trait Echo: ::core::marker::Send + ::core::marker::Sync + 'static {",
        "fn echo( &self, cx: &::rpc::Context, req: EchoRequest, ) -> impl ::core::future::Future< \
         Output = ::core::result::Result<EchoResponse, EchoEchoError>, > + ::core::marker::Send;",
        "pub enum EchoEchoError { EchoError(EchoError), /// No response came",
        "Other(::rpc::Error), }",
        "pub struct Color(pub i32);",
        "pub const GREEN: Self = Self(2);",
        "pub inner: ::core::option::Option<Inner>",
        "pub fn ping( &self, note: ::std::string::String, ) -> impl ::core::future::Future< \
         Output = ::core::result::Result<(), ::rpc::Error>, > + ::core::marker::Send + 'static + use<C, S>",
    ] {
        assert!(flat.contains(part), "no {part} in\n{text}");
    }
}

#[test]
fn an_error_of_a_schema_is_told_in_full_and_nothing_is_written() {
    let folder = folder("bad");
    let error = rpc_build::configure().out_dir(&folder).compile(["testdata/bad.thrift"]).unwrap_err();
    let text = format!("{error:?}");
    assert!(text.contains("testdata/bad.thrift:2:6") && text.contains("Missing"), "{text}");
    assert!(!folder.exists());
}
