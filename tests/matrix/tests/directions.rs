//! Who may depend on whom, as `ARCHITECTURE.md` draws it: arrows between our crates go down only, and what touches sockets or
//! spawns tasks stays where it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each library, and which of ours it may depend on.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("rpc-core", &[]),
    ("rpc-wire", &["rpc-core"]),
    ("rpc-net", &["rpc-core", "rpc-wire"]),
    ("codec-msgpack", &["rpc-core", "rpc-wire"]),
    ("codec-protobuf", &["rpc-core", "rpc-wire"]),
    ("codec-thrift", &["rpc-core", "rpc-wire"]),
    ("transport-mux", &["rpc-core", "rpc-net", "rpc-wire"]),
    ("transport-pool", &["rpc-core", "rpc-net", "rpc-wire"]),
    ("keeper", &["codec-msgpack", "rpc-core"]),
    ("rpc-build", &[]),
    (
        "rpc",
        &[
            "codec-msgpack",
            "codec-protobuf",
            "codec-thrift",
            "rpc-core",
            "rpc-net",
            "rpc-wire",
            "transport-mux",
            "transport-pool",
        ],
    ),
];

/// Crates that no library may depend on, not even for its tests' sake.
const OUTSIDE: &[&str] = &[
    "bench",
    "examples",
    "rpc-test",
    "codegen-2021",
    "codegen-tests",
    "tests-corpus",
    "tests-matrix",
    "tests-peers",
];

/// A library, and what it must not depend on.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("rpc-wire", &["tokio", "tokio-util", "futures", "socket2", "tracing"]),
    ("rpc-core", &["tokio-util", "socket2", "prost", "thrift", "rmp-serde"]),
    ("codec-msgpack", &["tokio"]),
    ("codec-protobuf", &["tokio"]),
    ("codec-thrift", &["tokio"]),
    ("keeper", &["tokio"]),
    ("rpc-build", &["tokio"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The members of the workspace: what each depends on when it is built for its users, and for its own tests.
fn members() -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let dependencies = |package: &Value, dev: bool| {
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        all.filter(|dependency| (dependency["kind"].as_str() == Some("dev")) == dev).map(name).collect()
    };
    packages
        .iter()
        .map(|package| (name(package), (dependencies(package, false), dependencies(package, true))))
        .collect()
}

#[test]
fn arrows_between_our_crates_go_down_only() {
    let members = members();
    let ours: BTreeSet<&str> = members.keys().map(String::as_str).collect();
    let known = LIBRARIES.iter().map(|(library, _)| *library).chain(OUTSIDE.iter().copied()).collect();
    assert!(ours.is_subset(&known), "say who may depend on {:?}", &ours - &known);
    for (library, allowed) in LIBRARIES {
        let (normal, dev) = members.get(*library).unwrap_or_else(|| panic!("there is no crate {library}"));
        let normal: BTreeSet<&str> = normal.iter().map(String::as_str).collect();
        let allowed: BTreeSet<&str> = allowed.iter().copied().collect();
        let found: BTreeSet<&str> = normal.intersection(&ours).copied().collect();
        assert!(found.is_subset(&allowed), "{library} must not depend on {:?}", &found - &allowed);
        for outside in OUTSIDE {
            assert!(
                !normal.contains(outside) && !dev.contains(*outside),
                "{library} must not depend on {outside}"
            );
        }
        // A codec and a transport never name each other, not even in tests.
        let kind = |name: &str| name.split('-').next().unwrap_or_default().to_owned();
        let other = match kind(library).as_str() {
            "codec" => "transport",
            "transport" => "codec",
            _ => continue,
        };
        assert!(!normal.iter().any(|name| kind(name) == other), "{library} depends on a {other}");
    }
}

#[test]
fn forbidden_crates_are_not_used() {
    let members = members();
    for (library, forbidden) in FORBIDDEN {
        let (normal, _) = &members[*library];
        for name in *forbidden {
            assert!(!normal.contains(*name), "{library} must not depend on {name}");
        }
    }
}

/// The Rust sources of a library, without its tests.
fn sources(library: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(library).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !path.ends_with("tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                files.push((path, lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    assert!(!files.is_empty(), "{library} has no sources");
    files
}

fn only_in(allowed: &[&str], words: &[&str]) {
    for (library, _) in LIBRARIES.iter().filter(|(library, _)| !allowed.contains(library)) {
        for (path, code) in sources(library) {
            for word in words {
                assert!(!code.contains(word), "{} names {word}", path.display());
            }
        }
    }
}

#[test]
fn sockets_are_rpc_nets() {
    only_in(
        &["rpc-net"],
        &["tokio::net", "std::net::Tcp", "std::net::Udp", "socket2::", "UnixStream", "TcpStream"],
    );
}

#[test]
fn tasks_are_spawned_by_rpc_net_and_the_transports() {
    only_in(
        &["rpc-net", "transport-mux", "transport-pool"],
        &["tokio::spawn", "task::spawn", "Handle::current", "runtime::", "thread::spawn"],
    );
}

#[test]
fn protocols_read_no_clock() {
    for (path, code) in sources("rpc-wire") {
        // The bodies for fuzzers drive protocols, as a driver does.
        if !path.ends_with("fuzz.rs") {
            for word in ["Instant::now", "SystemTime", "async fn", ".await", "Mutex"] {
                assert!(!code.contains(word), "{} names {word}", path.display());
            }
        }
    }
}
