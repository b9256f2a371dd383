//! What the tests in `tests/` share.
//!
//! - `kinds`: the kinds of transport that the suites run over.
//! - `probe_idl`: types of a Thrift definition, for bytes that only some types can meet.

mod kinds;
pub mod probe_idl;

pub use kinds::{MuxKind, PoolKind};
