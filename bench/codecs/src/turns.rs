//! Taking turns, and what comes out.

use std::time::{Duration, Instant};

/// A codec, with the sample in its own form.
pub(crate) trait Contestant {
    /// As printed.
    fn name(&self) -> &'static str;

    /// Writes the sample so many times, each time into the same memory from its start.
    fn encode(&mut self, times: u32);

    /// Reads the sample so many times and drops what it read.
    fn decode(&mut self, times: u32);

    /// The sample's bytes.
    fn written(&mut self) -> Vec<u8>;

    /// Whether these bytes hold the sample.
    fn finds_sample(&self, bytes: &[u8]) -> bool;
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(crate) enum Direction {
    /// From the value to bytes.
    Encode,
    /// From bytes to the value.
    Decode,
}

/// Measures all in turns and returns the lines to print: one a contestant.
pub(crate) fn measure(
    direction: Direction,
    contestants: &mut [Box<dyn Contestant>],
    rounds: usize,
    millis: u64,
) -> Vec<String> {
    let turn = Duration::from_millis(millis);
    let times: Vec<u32> =
        contestants.iter_mut().map(|one| times_for(direction, one.as_mut(), turn)).collect();
    let mut nanos = vec![Vec::with_capacity(rounds); contestants.len()];
    for round in 0..rounds {
        for turn in 0..contestants.len() {
            // Each goes first in its turn, so that nobody always follows the same one.
            let place = (round + turn) % contestants.len();
            nanos[place].push(once(direction, contestants[place].as_mut(), times[place]));
        }
    }
    contestants
        .iter()
        .enumerate()
        .map(|(place, one)| line(direction, one.name(), &nanos[place], &nanos[0]))
        .collect()
}

/// How often fits into a turn; at least once.
fn times_for(direction: Direction, one: &mut dyn Contestant, turn: Duration) -> u32 {
    let mut times = 1;
    loop {
        let nanos = once(direction, one, times) * f64::from(times);
        if nanos * 2.0 > turn.as_nanos() as f64 || times > u32::MAX / 2 {
            return times;
        }
        times *= 2;
    }
}

/// Nanoseconds a message.
fn once(direction: Direction, one: &mut dyn Contestant, times: u32) -> f64 {
    let start = Instant::now();
    match direction {
        Direction::Encode => one.encode(times),
        Direction::Decode => one.decode(times),
    }
    start.elapsed().as_nanos() as f64 / f64::from(times)
}

fn line(direction: Direction, name: &str, own: &[f64], first: &[f64]) -> String {
    let what = match direction {
        Direction::Encode => "encode",
        Direction::Decode => "decode",
    };
    let nanos = quantile(own, 0.5);
    let speeds: Vec<f64> = own.iter().zip(first).map(|(own, first)| own / first).collect();
    let [low, middle, high] = [0.25, 0.5, 0.75].map(|at| quantile(&speeds, at));
    format!("{what} {name:<8} {nanos:>9.0} ns   time / ours {middle:.2} [{low:.2}, {high:.2}]")
}

/// By linear interpolation between the two nearest.
fn quantile(values: &[f64], at: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = at * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}
