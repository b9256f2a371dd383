//! What the command line is answered with, good and bad.

use super::super::{Parsed, parse};
use super::*;

fn machine(cpus: usize) -> Machine {
    Machine { usable: (0..cpus).collect(), cores: (0..cpus).map(|cpu| vec![cpu]).collect() }
}

fn on(cpus: usize, line: &str) -> Result<Settings, Failure> {
    let words = std::iter::once("bench").chain(line.split_whitespace()).map(str::to_owned);
    match parse(words)? {
        Parsed::Command(cli) => resolve(&cli.flags, &machine(cpus)),
        Parsed::Text(text) => panic!("{text}"),
    }
}

fn good(line: &str) -> Settings {
    on(4, &format!("--system raw-tcp {line}")).unwrap_or_else(|failure| panic!("{line}: {failure}"))
}

/// Code, first line, second line.
fn bad(line: &str) -> (u8, String, String) {
    let failure = on(4, line).err().unwrap_or_else(|| panic!("{line} was taken"));
    let text = failure.to_string();
    let (what, hint) = text.split_once("\nhint: ").unwrap_or_else(|| panic!("no hint: {text}"));
    (failure.code(), what.strip_prefix("error: ").unwrap_or(what).to_owned(), hint.to_owned())
}

#[test]
fn the_defaults() {
    let settings = good("");
    assert_eq!(settings.profile, Profile::Quick);
    assert_eq!(settings.rounds, 5);
    assert_eq!(settings.extent, Extent::Time(1_500_000_000));
    assert_eq!(settings.warmup, Duration::from_millis(500));
    assert_eq!(settings.seed, 42);
    assert_eq!(
        settings.baselines.iter().map(|entry| entry.name).collect::<Vec<_>>(),
        ["tonic", "tonic-tuned"]
    );
    let expected = Condition {
        concurrency: 100,
        body: 1024,
        connections: 3,
        pool_size: 100,
        server_threads: 1,
        client_threads: 3,
    };
    assert_eq!(settings.conditions, [expected]);
    assert!(settings.aa && settings.allocs && !settings.strict);
    assert_eq!(settings.split.to_string(), "cpu 0 server, cpu 1-3 client");
}

#[test]
fn presets_and_what_overrides_them() {
    let smoke = good("--profile smoke");
    assert_eq!((smoke.rounds, smoke.conditions[0].concurrency, smoke.aa), (2, 16, false));
    let standard = good("--profile standard");
    assert_eq!(standard.conditions.len(), 7);
    // raw-tcp is what is measured here, so it is not a baseline as well.
    assert_eq!(standard.baselines.len(), 2);
    let own = good("--profile standard -c 1,2 -b 64,1k -r 3 -t 1s --warmup 0s");
    let grid: Vec<(usize, usize)> = own.conditions.iter().map(|c| (c.concurrency, c.body)).collect();
    assert_eq!(grid, [(1, 64), (2, 64), (1, 1024), (2, 1024)]);
    assert_eq!((own.rounds, own.extent, own.warmup), (3, Extent::Time(1_000_000_000), Duration::ZERO));
}

#[test]
fn connections_never_exceed_the_calls() {
    assert_eq!(good("-c 2").conditions[0].connections, 2);
    assert_eq!(
        good("-c 400 --connections 8,auto").conditions.iter().map(|c| c.connections).collect::<Vec<_>>(),
        [8, 3]
    );
    assert_eq!(
        good("-c 400 --server-threads 2,5").conditions.iter().map(|c| c.connections).collect::<Vec<_>>(),
        [3, 5]
    );
}

#[test]
fn misspelt_names() {
    let (code, what, hint) = bad("--codec thirft");
    assert_eq!((code, what.as_str()), (2, "unknown codec 'thirft'"));
    assert_eq!(hint, "did you mean thrift? values: protobuf thrift msgpack all");
    assert_eq!(bad("--transport mux,pol").1, "unknown transport 'pol'");
    assert_eq!(bad("--system raw-tpc").1, "unknown system 'raw-tpc'");
    assert_eq!(bad("--profile slow").0, 2);
    assert_eq!(bad("--system raw-tcp --format html").0, 2);
}

#[test]
fn numbers_out_of_range_name_the_element() {
    for (word, element) in
        [("0", "0"), ("abc", "abc"), ("100,,200", ""), ("-5", "-5"), ("1e3", "1e3"), ("70000", "70000")]
    {
        let (code, what, hint) = bad(&format!("--system raw-tcp --concurrency {word}"));
        assert_eq!(code, 2);
        assert_eq!(what, format!("--concurrency: '{element}' is not allowed"));
        assert_eq!(hint, "a whole number from 1 to 65535");
    }
    assert_eq!(bad("--system raw-tcp --rounds 0").0, 2);
    assert_eq!(bad("--system raw-tcp --rounds 1001").0, 2);
    assert_eq!(bad("--system raw-tcp -t 100ms").0, 2);
    assert_eq!(bad("--system raw-tcp --timeout 0ms").0, 2);
    assert_eq!(bad("--system raw-tcp --verify sample:0").0, 2);
    assert_eq!(bad("--system raw-tcp --noise-threshold 60%").0, 2);
    assert_eq!(good("--rounds 1").rounds, 1);
}

#[test]
fn contradictions() {
    let (code, what, _) = bad("--system raw-tcp -n 10 -c 100");
    assert_eq!((code, what.as_str()), (2, "concurrency 100 is greater than 10 requests"));
    assert_eq!(bad("--system raw-tcp -n 1000 -t 1s").1, "--requests and --duration exclude each other");
    assert_eq!(bad("--system tonic --pool-size 5").1, "--pool-size without a pool to size");
    assert_eq!(good("--pool-size 5").conditions[0].pool_size, 5);
    assert_eq!(good("-n 1_000").extent, Extent::Requests(1000));
}

#[test]
fn confidence_in_percent() {
    assert_eq!(
        bad("--system raw-tcp --confidence 95"),
        (2, "--confidence: '95' is not allowed".into(), "0.95".into())
    );
}

#[test]
fn pinning() {
    assert_eq!(good("--pin 0-1:2,3").split.to_string(), "cpu 0-1 server, cpu 2-3 client");
    assert_eq!(good("--pin off").split.to_string(), "not pinned");
    assert_eq!(bad("--system raw-tcp --pin 0-2:2-3").1, "--pin: CPU 2 is in both sets");
    assert_eq!(bad("--system raw-tcp --pin 0:9").1, "--pin: CPU 9 may not be used");
    assert_eq!(bad("--system raw-tcp --pin 0:x").1, "--pin: 'x' is not a CPU");
    assert_eq!(bad("--system raw-tcp --pin 3").0, 2);
    assert_eq!(good("--pin 0-1:0-1").notes, ["client and server share CPUs"]);
    assert_eq!(on(1, "--system raw-tcp").expect("one CPU").notes, ["client and server share CPUs"]);
}

#[test]
fn large_bodies() {
    assert_eq!(bad("--system raw-tcp --body 64M").2, "at most 16 MiB");
    assert_eq!(good("--body 16M,0").conditions.iter().map(|c| c.body).collect::<Vec<_>>(), [16 << 20, 0]);
}

#[test]
fn baselines_that_are_not_there() {
    let (code, what, hint) = bad("--system raw-tcp --baseline grpc-go");
    assert_eq!((code, what.as_str()), (7, "no baseline 'grpc-go' in this build"));
    assert!(hint.contains("tonic-tuned"), "{hint}");
    assert!(good("--baseline none").baselines.is_empty());
    assert_eq!(bad("--system raw-tcp --baseline none,tonic").0, 2);
}

#[test]
fn labels_and_folders() {
    assert_eq!(bad("--system raw-tcp --label a/b").0, 2);
    assert_eq!(bad("--system raw-tcp --out src").1, "--out: 'src' is not an empty folder");
    assert_eq!(good("--out no/such/folder").output.out, Some(PathBuf::from("no/such/folder")));
}

#[test]
fn doubles_are_dropped_with_a_note() {
    let settings = good("-c 5,5");
    assert_eq!(settings.conditions.len(), 1);
    assert_eq!(settings.notes, ["--concurrency: given twice, measured once: 5"]);
}

#[test]
fn pairs_are_named() {
    for &codec in &Codec::ALL {
        for &transport in &Transport::ALL {
            let line = format!("--codec {} --transport {}", codec.name(), transport.name());
            match registry::of_pair(Pair { codec, transport }) {
                Some(entry) => assert_eq!(on(4, &line).expect("a pair").systems[0].name, entry.name),
                None => {
                    let (code, what, hint) = bad(&line);
                    assert_eq!(
                        (code, what),
                        (2, format!("no such pair: {}/{}", codec.name(), transport.name()))
                    );
                    assert!(hint.starts_with("pairs: "));
                }
            }
        }
    }
}

#[test]
fn vacancy() {
    use std::path::Path;
    assert!(vacant(Path::new("no/such/folder")));
    assert!(!vacant(Path::new("src")));
    assert!(!vacant(Path::new("Cargo.toml")));
}
