//! Generates the gRPC code of the baseline from `idl/echo.proto` (no protoc needed) and writes down how this
//! program is being built, so that every result can say so.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=idl/echo.proto");
    let descriptors = protox::compile(["idl/echo.proto"], ["idl"])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    rpc_build::compile(["idl/echo.thrift", "idl/echo.proto"])?;
    record_build()
}

/// Cargo tells a build script the optimisation level but neither LTO nor the codegen units, so those two are read
/// from the profile in the workspace manifest, with cargo's environment overrides on top.
fn record_build() -> Result<(), Box<dyn Error>> {
    let workspace = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../Cargo.toml");
    println!("cargo::rerun-if-changed={}", workspace.display());
    println!("cargo::rerun-if-changed={}", workspace.with_file_name("Cargo.lock").display());
    let manifest = fs::read_to_string(&workspace)?;
    // PROFILE says "debug" for everything that inherits from dev.
    let (profile, table) = match env::var("PROFILE")?.as_str() {
        "release" => ("RELEASE", "[profile.release]"),
        _ => ("DEV", "[profile.dev]"),
    };
    for (key, variable, fallback) in [("lto", "LTO", "off"), ("codegen-units", "CODEGEN_UNITS", "default")] {
        let overridden = format!("CARGO_PROFILE_{profile}_{variable}");
        println!("cargo::rerun-if-env-changed={overridden}");
        let value = env::var(overridden).ok().or_else(|| setting(&manifest, table, key));
        println!("cargo::rustc-env=BENCH_{variable}={}", value.as_deref().unwrap_or(fallback));
    }
    let lock = fs::read_to_string(workspace.with_file_name("Cargo.lock"))?;
    println!("cargo::rustc-env=BENCH_TONIC_VERSION={}", locked(&lock, "tonic").unwrap_or("unknown"));
    println!("cargo::rustc-env=BENCH_OPT_LEVEL={}", env::var("OPT_LEVEL")?);
    println!("cargo::rustc-env=BENCH_TARGET={}", env::var("TARGET")?);
    println!("cargo::rustc-env=BENCH_TARGET_CPU={}", target_cpu());
    println!("cargo::rustc-env=BENCH_RUSTC={}", rustc_version()?);
    Ok(())
}

/// The value of `key` in one table of a manifest, quotes and comment removed.
fn setting(manifest: &str, table: &str, key: &str) -> Option<String> {
    let mut lines = manifest.lines().skip_while(|line| line.trim() != table).skip(1);
    lines.by_ref().take_while(|line| !line.trim_start().starts_with('[')).find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let value = value.split('#').next()?.trim().trim_matches('"');
        (name.trim() == key).then(|| value.to_owned())
    })
}

/// The version of a package in the lock file.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{package}\""));
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

fn target_cpu() -> String {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let named =
        flags.split('\x1f').find_map(|flag| flag.trim_start_matches("-C").strip_prefix("target-cpu="));
    named.unwrap_or("generic").to_owned()
}

fn rustc_version() -> Result<String, Box<dyn Error>> {
    let output = Command::new(env::var("RUSTC")?).arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
