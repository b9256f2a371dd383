//! The driver: starts processes, lets them take turns, collects what they saw.
//!
//! - [`host`]: where servers run, here or on another machine.
//! - [`round`]: one server process and one load process.
//! - [`blocks`]: all rounds of a plan.
//! - [`noise`]: what else ran meanwhile.
//! - [`calibration`]: what the clock, the generator and the machine can do.

pub mod blocks;
pub mod calibration;
pub mod host;
pub mod noise;
pub mod round;
