//! The crates that generated code names. Not for use by hand: what is here follows the generator.

pub use bytes;

#[cfg(feature = "thrift")]
pub use codec_thrift as thrift;

#[cfg(feature = "protobuf")]
pub use {codec_protobuf as protobuf, prost, prost_types};

#[cfg(any(feature = "thrift", feature = "protobuf"))]
pub use serde;

#[cfg(any(feature = "thrift", feature = "protobuf"))]
pub mod serde_support;

/// The future with its output changed. An `async` block around a future would hold it twice: as what the block captured, and
/// as what it awaits.
pub fn map<F: Future, T>(future: F, change: impl FnOnce(F::Output) -> T) -> impl Future<Output = T> {
    futures::FutureExt::map(future, change)
}
