//! Our systems, those that they are compared with, and the one that does nothing.

pub mod noop;
pub mod ours;
pub mod raw_tcp;
pub mod tonic;
