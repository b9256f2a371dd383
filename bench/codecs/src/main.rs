//! Thrift's binary protocol: how fast this framework's generated types are written and read, beside pilota's and Apache's.
//!
//! All three write and read the same message: `idl/complex.thrift`, with a map of five parts of 1 KiB, a list of a hundred small
//! parts, a set of one group and a nested group. Each is first made to read what the others wrote. Then they take turns, in rounds,
//! so that a drift of the machine meets all alike; what is printed is the median over the rounds of the time a message takes,
//! and the median over the rounds of the ratio to the same round's first.
//!
//! pilota's is its fastest form, as volo uses it: the unchecked reader and writer, shared text without a check for UTF-8.

mod apache;
mod ours;
mod pilota_types;
mod sample;
mod turns;

use clap::Parser;

use crate::turns::{Contestant, Direction, measure};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Thrift's binary protocol against other Rust implementations of it.
#[derive(Debug, Parser)]
struct Flags {
    /// Rounds.
    #[arg(long, default_value_t = 31)]
    rounds: usize,
    /// Milliseconds that each codec has in a round, for each direction.
    #[arg(long, default_value_t = 20)]
    millis: u64,
    /// One direction alone.
    #[arg(long)]
    direction: Option<Direction>,
    /// One codec alone, to profile it.
    #[arg(long)]
    only: Option<String>,
}

fn main() {
    let flags = Flags::parse();
    let mut contestants: Vec<Box<dyn Contestant>> = vec![
        Box::new(ours::Ours::new()),
        Box::new(pilota_types::Pilota::new()),
        Box::new(apache::Apache::new()),
    ];
    agree(&mut contestants);
    if let Some(name) = &flags.only {
        contestants.retain(|one| one.name() == name);
    }
    let directions = [Direction::Encode, Direction::Decode].into_iter();
    for direction in directions.filter(|one| flags.direction.is_none_or(|wanted| wanted == *one)) {
        for line in measure(direction, &mut contestants, flags.rounds.max(1), flags.millis.max(1)) {
            println!("{line}");
        }
    }
}

/// Every codec reads what every other wrote, and finds the sample in it.
fn agree(contestants: &mut [Box<dyn Contestant>]) {
    let written: Vec<(&'static str, Vec<u8>)> =
        contestants.iter_mut().map(|one| (one.name(), one.written())).collect();
    for (writer, bytes) in &written {
        for reader in contestants.iter() {
            assert!(
                reader.finds_sample(bytes),
                "{} does not find in {writer}'s bytes what was put in",
                reader.name()
            );
        }
    }
    println!("{} bytes, read by each from each", written[0].1.len());
}
