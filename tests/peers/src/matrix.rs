//! A table of peers: every peer in every way that messages travel, in both directions.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::program::{Missing, required};

/// How long a cell may take. It bounds a hang; nothing depends on the speed.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a cell runs. It panics when something is other than it should be.
pub type Check = Pin<Box<dyn Future<Output = Result<(), Missing>> + Send>>;

/// One direction of a row.
pub enum Cell {
    /// What is run.
    Check(Check),
    /// Why there is nothing to run.
    NotApplicable(&'static str),
}

impl Cell {
    /// A cell that runs something.
    pub fn check(check: impl Future<Output = Result<(), Missing>> + Send + 'static) -> Self {
        Self::Check(Box::pin(check))
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(_) => f.write_str("Check"),
            Self::NotApplicable(reason) => f.debug_tuple("NotApplicable").field(reason).finish(),
        }
    }
}

/// A peer in one way that messages travel.
#[derive(Debug)]
pub struct Row {
    /// Whose software it is.
    pub peer: &'static str,
    /// How messages travel.
    pub way: String,
    /// Its client calls our server.
    pub calls_us: Cell,
    /// Our clients call its server.
    pub is_called: Cell,
}

#[derive(Debug)]
enum Outcome {
    Pass,
    Fail(String),
    Skip(String),
    NotApplicable(&'static str),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Fail(_) => f.write_str("FAIL"),
            Self::Skip(missing) => write!(f, "skipped ({missing})"),
            Self::NotApplicable(reason) => write!(f, "n/a ({reason})"),
        }
    }
}

/// Runs the rows, as many cells at once as there are processors, and prints them as a table. Returns whether none failed.
/// A program that is missing is a failure where the peers are required.
pub async fn run(rows: Vec<Row>) -> bool {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let turns = Arc::new(Semaphore::new(processors));
    let mut cells = JoinSet::new();
    let mut table = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        table.push((row.peer, row.way, [None, None]));
        for (side, cell) in [row.calls_us, row.is_called].into_iter().enumerate() {
            let turns = turns.clone();
            cells.spawn(async move {
                let _turn = turns.acquire_owned().await.expect("never closed");
                (index, side, outcome(cell).await)
            });
        }
    }
    while let Some(done) = cells.join_next().await {
        let (index, side, outcome) = done.expect("what panics is inside of a cell");
        table[index].2[side] = Some(outcome);
    }
    print(&table)
}

async fn outcome(cell: Cell) -> Outcome {
    let check = match cell {
        Cell::NotApplicable(reason) => return Outcome::NotApplicable(reason),
        Cell::Check(check) => check,
    };
    let mut running: JoinHandle<Result<(), Missing>> = tokio::spawn(check);
    match timeout(PATIENCE, &mut running).await {
        Ok(Ok(Ok(()))) => Outcome::Pass,
        Ok(Ok(Err(missing))) if required() => Outcome::Fail(missing.to_string()),
        Ok(Ok(Err(missing))) => Outcome::Skip(missing.to_string()),
        Ok(Err(error)) => Outcome::Fail(panic_message(error)),
        Err(_) => {
            running.abort();
            Outcome::Fail(format!("not done after {PATIENCE:?}"))
        }
    }
}

fn panic_message(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "cancelled".into() };
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast_ref::<&str>().unwrap_or(&"a panic without a message")).into(),
    }
}

type Line = (&'static str, String, [Option<Outcome>; 2]);

fn print(table: &[Line]) -> bool {
    const HEADS: [&str; 3] = ["peer", "way", "it calls us"];
    let width = |column: &dyn Fn(&Line) -> String, head: &str| {
        table.iter().map(|line| column(line).chars().count()).chain([head.len()]).max().unwrap_or(0)
    };
    let text = |outcome: &Option<Outcome>| outcome.as_ref().map(ToString::to_string).unwrap_or_default();
    let peer = width(&|line| line.0.to_owned(), HEADS[0]);
    let way = width(&|line| line.1.clone(), HEADS[1]);
    let calls = width(&|line| text(&line.2[0]), HEADS[2]);
    println!("{:peer$} | {:way$} | {:calls$} | we call it", HEADS[0], HEADS[1], HEADS[2]);
    for line in table {
        println!("{:peer$} | {:way$} | {:calls$} | {}", line.0, line.1, text(&line.2[0]), text(&line.2[1]));
    }
    let outcomes =
        || table.iter().flat_map(|line| line.2.iter().flatten().map(move |outcome| (line, outcome)));
    let count = |wanted: fn(&Outcome) -> bool| outcomes().filter(|(_, outcome)| wanted(outcome)).count();
    let failed = count(|outcome| matches!(outcome, Outcome::Fail(_)));
    println!(
        "{} passed, {failed} failed, {} skipped, {} not applicable",
        count(|outcome| matches!(outcome, Outcome::Pass)),
        count(|outcome| matches!(outcome, Outcome::Skip(_))),
        count(|outcome| matches!(outcome, Outcome::NotApplicable(_))),
    );
    for (line, outcome) in outcomes() {
        if let Outcome::Fail(why) = outcome {
            println!("FAIL {}, {}: {why}", line.0, line.1);
        }
    }
    failed == 0
}
