//! Tower layers that work on both sides, since both sides pass [`Request`](crate::Request)`<`[`Body`](crate::Body)`>`.

mod trace;

pub use trace::{Trace, TraceFuture, TraceLayer};
