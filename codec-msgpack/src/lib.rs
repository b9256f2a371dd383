//! MessagePack payloads, for every type that is serde's, and the msgpack-rpc framing.
//!
//! - `msgpack`: [`MsgPack`], the codec. `ser`, `de`: serde's two sides of it.
//! - `rpc`: [`Rpc`], the framing.
//! - `walk`: finds where a value ends, as its bytes come in.
//! - `read`, `write`: one item of the format. `value`: encoded values, without a type for them.
//! - `fuzz`: bodies for fuzzers, which the unit tests run as well.
//!
//! The serde side is here and not `rmp-serde`'s: that one does not limit how deep a value is that it writes, nor how deep
//! enums nest that it reads, and its errors do not say which field is wrong. It is the model that the tests compare with.
#![warn(clippy::indexing_slicing)]

#[cfg(test)]
mod cases;
mod de;
pub mod fuzz;
mod msgpack;
mod read;
mod rpc;
mod ser;
#[cfg(test)]
mod testing;
mod text;
pub mod value;
mod walk;
mod write;

pub use msgpack::MsgPack;
pub use rpc::{ErrorForm, NameFormat, Rpc};
