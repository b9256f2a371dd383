//! What cargo does when files change: a package of its own is built again and again. Its build script hands on to this program.
#![cfg(all(feature = "thrift", feature = "proto"))]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

/// Set where this program plays the build script.
const PLAYS: &str = "REBUILD_PLAYS_THE_BUILD_SCRIPT";

const MANIFEST: &str = r#"
[package]
name = "rebuilt"
version = "0.0.0"
edition = "2024"

[workspace]
"#;

const SCRIPT: &str = r#"
fn main() {
    let program = std::fs::read_to_string("program").unwrap();
    let output = std::process::Command::new(program)
        .args(["the_build_script", "--exact", "--nocapture", "--test-threads=1"])
        .env("REBUILD_PLAYS_THE_BUILD_SCRIPT", "1")
        .output()
        .unwrap();
    print!("{}", String::from_utf8(output.stdout).unwrap());
    eprint!("{}", String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success());
}
"#;

/// Holds what was generated, so that the package is compiled again when what was generated is another.
const LIB: &str = r#"
pub const ALL: &str = include_str!(concat!(env!("OUT_DIR"), "/rpc_idl.rs"));
"#;

#[test]
fn the_build_script() {
    if std::env::var_os(PLAYS).is_none() {
        return; // it is asked for by name, in the folder of the package
    }
    let runs = fs::read_to_string("runs").unwrap_or_default();
    fs::write("runs", format!("{runs}x")).unwrap();
    println!(); // what cargo is told stands on lines of its own
    rpc_build::compile(["schemas/a.thrift", "schemas/p.proto"]).unwrap();
}

struct Package(PathBuf);

impl Package {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("built again, ünd so on");
        let _ = fs::remove_dir_all(&folder);
        let package = Self(folder);
        package.write("Cargo.toml", MANIFEST);
        package.write("build.rs", SCRIPT);
        package.write("src/lib.rs", LIB);
        package.write("program", std::env::current_exe().unwrap().to_str().unwrap());
        package
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cargo(&self) -> Output {
        Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["build", "--offline", "--message-format=json"])
            .current_dir(&self.0)
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            .env_remove("OUT_DIR")
            .output()
            .unwrap()
    }

    /// Builds, and says how often the build script has run by now and whether the package was compiled.
    fn build(&self) -> (usize, bool) {
        let output = self.cargo();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).unwrap();
        let of_lib =
            |line: &&str| line.contains(r#""reason":"compiler-artifact""#) && line.contains(r#"["lib"]"#);
        let line = messages.lines().find(of_lib).expect("a message of the library");
        (fs::read(self.0.join("runs")).unwrap().len(), line.contains(r#""fresh":false"#))
    }

    fn generated(&self) -> (String, SystemTime) {
        let folder = self.0.join("target/debug/build");
        let outs = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("out/rpc_idl.rs"));
        let file = outs.into_iter().find(|file| file.exists()).expect("what was generated");
        (fs::read_to_string(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap())
    }
}

/// C153.
#[test]
fn each_change_of_a_schema_builds_once_and_no_other_does() {
    let package = Package::new();
    package.write("schemas/a.thrift", "include \"sub/b.thrift\"\nstruct A { 1: b.B b }");
    package.write("schemas/sub/b.thrift", "include \"c.thrift\"\nstruct B { 1: c.C c }");
    package.write("schemas/sub/c.thrift", "struct C { 1: i32 first }");
    package.write(
        "schemas/p.proto",
        "syntax = \"proto3\";\npackage p;\nimport \"q.proto\";\nmessage P { q.Q q = 1; }",
    );
    package.write("schemas/q.proto", "syntax = \"proto3\";\npackage q;\nmessage Q { int32 first = 1; }");
    assert_eq!(package.build(), (1, true));
    assert_eq!(package.build(), (1, false), "the second build");

    // What no schema names: a file beside them, also one that could be a schema; a variable of the environment.
    package.write("schemas/README", "nothing to do with it");
    package.write("schemas/sub/d.thrift", "struct D {}");
    assert_eq!(package.build(), (1, false), "a file that is not read");

    // The same text with another time: the script runs, and leaves what it wrote as it is.
    let (text, written) = package.generated();
    package.write("schemas/sub/c.thrift", "struct C { 1: i32 first }");
    assert_eq!(package.build().0, 2, "a file that was touched");
    assert_eq!(package.generated(), (text, written));
    assert_eq!(package.build(), (2, false));

    // Files that are included, directly and by those; of either language.
    let mut runs = 2;
    for (file, text, field) in [
        ("schemas/a.thrift", "include \"sub/b.thrift\"\nstruct A { 1: b.B b, 2: i32 of_a }", "of_a"),
        ("schemas/sub/b.thrift", "include \"c.thrift\"\nstruct B { 1: c.C c, 2: i32 of_b }", "of_b"),
        ("schemas/sub/c.thrift", "struct C { 1: i32 of_c }", "of_c"),
        ("schemas/q.proto", "syntax = \"proto3\";\npackage q;\nmessage Q { int32 of_q = 1; }", "of_q"),
    ] {
        assert!(!package.generated().0.contains(field));
        package.write(file, text);
        runs += 1;
        assert_eq!(package.build(), (runs, true), "{file} changed");
        assert!(package.generated().0.contains(field), "{file} changed");
        assert_eq!(package.build(), (runs, false), "after {file} changed");
    }

    // A file that goes is an error that names it, until it is there again.
    let gone = package.0.join("schemas/sub/c.thrift");
    fs::remove_file(&gone).unwrap();
    for _ in 0..2 {
        let output = package.cargo();
        assert!(!output.status.success());
        let errors = [output.stdout, output.stderr].concat();
        assert!(
            String::from_utf8_lossy(&errors).contains("c.thrift"),
            "{}",
            String::from_utf8_lossy(&errors)
        );
    }
    package.write("schemas/sub/c.thrift", "struct C { 1: i32 back }");
    assert!(package.build().1);
    assert!(package.generated().0.contains("back"));
    let (runs, _) = package.build();
    assert_eq!(package.build(), (runs, false));
}
