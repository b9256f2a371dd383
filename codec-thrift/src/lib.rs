//! Thrift: payloads in the binary and in the compact protocol, and the message headers that stand before them.
//!
//! - `ttype`: the type tags of the wire.
//! - `writer`, `reader`: the contracts between generated types and a protocol, monomorphic on both sides.
//! - `value`: what generated types implement, and the implementations for the base types and containers.
//! - `binary`, `compact`: a protocol's reader, writer and message header each.
//! - `source`, `nesting`, `exception`: what they share: checked reading, the bound on depth, the struct of a failed call.
//! - `unknown`: fields that a definition does not know, kept to be written again.
//! - `scan`: where a message ends that has no frame around it.
//! - `double`, `uuid`: types of fields that std has no type for.
//! - `serde_impls`: these as serde's types (feature `serde`).
//! - `apache`: codecs for types that Apache's own compiler generates (feature `apache`).
//! - `codec`: the [`Codec`](rpc_core::Codec)s over them.
//!
//! Text is [`String`] and is checked to be UTF-8; `binary` is [`Bytes`](bytes::Bytes), a slice of the read buffer that keeps
//! it alive. Maps are `HashMap` and sets `HashSet`; inside of a key they are `BTreeMap` and `BTreeSet`, and a double there is a
//! [`Double`], so that every type can be a key.
//!
//! Source of all layouts: `wire/thrift.md` §1–3 (Apache's *Thrift Binary protocol encoding* and *Thrift Compact
//! protocol encoding*).
#![warn(clippy::indexing_slicing)]

#[cfg(feature = "apache")]
pub mod apache;
pub mod binary;
mod codec;
pub mod compact;
mod double;
mod exception;
pub mod fuzz;
mod nesting;
mod outcome;
mod reader;
mod scan;
#[cfg(feature = "serde")]
mod serde_impls;
mod source;
mod ttype;
mod unknown;
mod uuid;
mod value;
mod writer;

pub use binary::Header as BinaryHeader;
pub use codec::{Binary, Compact};
pub use compact::Header as CompactHeader;
pub use double::Double;
pub use outcome::{ThriftException, ThriftOutcome};
pub use reader::{FieldHeader, ThriftReader};
pub use scan::Scan;
pub use ttype::TType;
pub use unknown::UnknownFields;
pub use uuid::{Uuid, UuidError};
pub use value::{ThriftStruct, ThriftValue};
pub use writer::ThriftWriter;

/// Framed Thrift binary: what Apache's clients and Kitex's speak by default.
pub type FramedBinary = rpc_wire::Framed<BinaryHeader>;

/// [`FramedBinary`], strict in both directions. For clients that write the old message header:
/// `Framed::new(BinaryHeader::new().accept_non_strict())`.
pub fn framed() -> FramedBinary {
    rpc_wire::Framed::new(BinaryHeader::new())
}

/// Framed Thrift compact: what Apache's clients speak when they are told to. Kitex does not know it.
pub type FramedCompact = rpc_wire::Framed<CompactHeader>;

/// [`FramedCompact`].
pub fn framed_compact() -> FramedCompact {
    rpc_wire::Framed::new(CompactHeader)
}

/// Thrift binary behind a TTHeader: what Kitex's clients and servers speak among themselves. Of the Thrift protocols it alone
/// carries deadlines and metadata.
pub type TtHeaderBinary = rpc_wire::TtHeader<BinaryHeader>;

/// [`TtHeaderBinary`], with all defaults.
pub fn ttheader() -> TtHeaderBinary {
    rpc_wire::TtHeader::new(BinaryHeader::new())
}

/// All of Thrift's framings in binary and compact on one port, as a Kitex server takes them: each message shows what it is,
/// and its answer is like it.
pub type Family = rpc_wire::Family<(BinaryHeader, CompactHeader)>;

/// [`Family`], for servers.
pub fn family() -> Family {
    rpc_wire::Family::new((BinaryHeader::new(), CompactHeader))
}

/// Thrift binary with nothing around the messages: what Apache calls the buffered transport, and Kitex's clients before
/// 0.13 spoke by default.
pub type BufferedBinary = rpc_wire::Buffered<BinaryHeader>;

/// [`BufferedBinary`], strict in both directions.
pub fn buffered() -> BufferedBinary {
    rpc_wire::Buffered::new(BinaryHeader::new())
}

/// Thrift compact with nothing around the messages.
pub type BufferedCompact = rpc_wire::Buffered<CompactHeader>;

/// [`BufferedCompact`].
pub fn buffered_compact() -> BufferedCompact {
    rpc_wire::Buffered::new(CompactHeader)
}

/// How deep structs and containers may be nested, on read, on skip and on write: what Apache, Kitex and volo allow.
pub const DEPTH_LIMIT: usize = 64;
