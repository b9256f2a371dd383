//! Prints a table of the peers: each in every way that messages travel, in both directions. Words after `--` choose the peers
//! whose names hold one of them.

fn main() -> std::process::ExitCode {
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .map(|word| word.to_lowercase())
        .collect();
    let mut rows = tests_peers::peers::rows();
    rows.retain(|row| words.is_empty() || words.iter().any(|word| row.peer.to_lowercase().contains(word)));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if runtime.block_on(tests_peers::matrix::run(rows)) {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
