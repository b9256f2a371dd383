//! What every implementation of a trait must do, as code that tests call: a suite for each trait, and what the suites stand on.
//! It is for `tests/` folders alone.
//!
//! - `transport`: the suite for transports, crossed with framings and networks by [`transport_suite!`].
//! - `codec`: the suite for codecs.
//! - `pipe`: two ends of a connection in memory, which delivers in pieces and can be cut at any byte.
//! - `wire`: a running server and the connector to it, in memory or over TCP; or a peer that the test plays by hand.
//! - `probe`, `messages`: the service that all suites call, in any codec.
//! - `run`: a runtime for a test, bounded waiting, and polling by hand.
//! - `record`: what a test's code says through `tracing`.
//! - `golden`: bytes that are written down. `rng`: numbers that are the same in each run.

pub mod codec;
pub mod golden;
mod messages;
mod pipe;
mod probe;
mod record;
mod rng;
mod run;
pub mod transport;
mod wire;

pub use messages::{Answer, Text};
pub use pipe::{Cut, How, PipeConfig, PipeEnd, Traffic, Way, pipe};
pub use probe::{Carries, Probe, method};
pub use record::{Recorded, Recorder};
pub use rng::Rng;
pub use run::{Net, poll_times, run, step, until};
pub use wire::{Peer, Running, Script, Wire};
