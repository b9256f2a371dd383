//! The kinds of transport that the suites run over. The tests are in `tests/`.

mod kinds;

pub use kinds::{MuxKind, PoolKind};
