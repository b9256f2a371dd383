//! Thrift: payloads in the binary protocol, and the message header that stands before them.
//!
//! - `ttype`: the type tags of the wire.
//! - `writer`, `reader`: the contracts between generated types and a protocol, monomorphic on both sides.
//! - `value`: what generated types implement, and the implementations for the base types and containers.
//! - `binary`: the binary protocol's reader, writer and message header.
//! - `double`, `uuid`: types of fields that std has no type for.
//! - `serde_impls`: these as serde's types (feature `serde`).
//! - `codec`: the [`Codec`](rpc_core::Codec) over them.
//!
//! Text is [`String`] and is checked to be UTF-8; `binary` is [`Bytes`](bytes::Bytes), a slice of the read buffer that keeps
//! it alive. Maps are `HashMap` and sets `HashSet`; inside of a key they are `BTreeMap` and `BTreeSet`, and a double there is a
//! [`Double`], so that every type can be a key.
//!
//! Source of all layouts: `wire/thrift.md` §1–2 (Apache's *Thrift Binary protocol encoding*).
#![warn(clippy::indexing_slicing)]

pub mod binary;
mod codec;
mod double;
pub mod fuzz;
mod outcome;
mod reader;
#[cfg(feature = "serde")]
mod serde_impls;
mod ttype;
mod uuid;
mod value;
mod writer;

pub use binary::Header as BinaryHeader;
pub use codec::Binary;
pub use double::Double;
pub use outcome::{ThriftException, ThriftOutcome};
pub use reader::{FieldHeader, ThriftReader};
pub use ttype::TType;
pub use uuid::{Uuid, UuidError};
pub use value::{ThriftStruct, ThriftValue};
pub use writer::ThriftWriter;

/// Framed Thrift binary: what Apache's clients and Kitex's speak by default.
pub type FramedBinary = rpc_wire::Framed<BinaryHeader>;

/// [`FramedBinary`], strict in both directions.
pub fn framed() -> FramedBinary {
    rpc_wire::Framed::new(BinaryHeader)
}

/// How deep structs and containers may be nested, on read, on skip and on write: what Apache, Kitex and volo allow.
pub const DEPTH_LIMIT: usize = 64;
