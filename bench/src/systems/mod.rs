//! The systems that are compared with ours, and the one that does nothing.

pub mod noop;
pub mod raw_tcp;
pub mod tonic;
