//! Types that Apache's own compiler generates: codecs for every struct, union and exception that implements the `thrift`
//! crate's [`TSerializable`](thrift::protocol::TSerializable), so that a service moves here without
//! its types being generated anew.
//!
//! A method is said by hand, since the compiler keeps its structs of arguments to itself. This is
//! `void put(1: Book book)`:
//!
//! ```
//! use codec_thrift::apache::Plain;
//! use rpc_core::{Method, Never, Place, Shape};
//! # struct Book;
//!
//! struct Put;
//!
//! impl Method for Put {
//!     const SERVICE: &'static str = "Shelves";
//!     const NAME: &'static str = "put";
//!     const SHAPE: Shape = Shape::Unary;
//!     const REQUEST: Place = Place::Message; // one argument, a struct
//!     type Request = Book; // as Apache's compiler made it
//!     type Response = Plain<()>;
//!     type Exception = Never;
//! }
//! ```
//!
//! A method of several arguments takes a struct of them all that implements `TSerializable`, at
//! [`Place::Arguments`](rpc_core::Place::Arguments).
//!
//! - `codec`: the codecs, and how arguments, responses and exceptions are said in terms of such types.
//! - `input`, `output`: this crate's readers and writers as the protocols that generated code calls.
//! - `header`: the message headers that name these codecs.
//!
//! # What is bounded
//!
//! Generated code does not read through the `thrift` crate's protocols but through this crate's readers, so that all their
//! limits hold: no length or count is believed that goes beyond the message, nesting ends at
//! [`DEPTH_LIMIT`](crate::DEPTH_LIMIT), text is UTF-8. More is needed, since generated code reserves memory for as many elements
//! as a list claims, and reads a field by its id alone, whatever type is announced:
//!
//! - Before a value is read, it is gone through once, so that each count is of elements that are really there.
//! - A read that does not fit what the message announces is an error: a field that changed its type is refused, and not
//!   left out as this crate's own types do.
//! - A panic in generated code (the compiler's 0.17 writes one for a union whose only field is unknown) is an error of decoding.
//!   The panic hook still runs.
//!
//! What can not be bounded: how large an element is in memory. A list of a million empty structs takes a million bytes on
//! the wire, and a million times the struct's size here, at once. The message limit is what bounds it.

mod codec;
mod header;
mod input;
mod output;
mod ttype;

pub use codec::{Binary, Compact, Plain, Struct};
pub use header::Header;

/// Framed Thrift binary that carries Apache's types.
pub type FramedBinary = rpc_wire::Framed<Header<crate::BinaryHeader, Binary>>;

/// Framed Thrift compact that carries Apache's types.
pub type FramedCompact = rpc_wire::Framed<Header<crate::CompactHeader, Compact>>;

/// Unframed Thrift binary that carries Apache's types.
pub type BufferedBinary = rpc_wire::Buffered<Header<crate::BinaryHeader, Binary>>;

/// Unframed Thrift compact that carries Apache's types.
pub type BufferedCompact = rpc_wire::Buffered<Header<crate::CompactHeader, Compact>>;

/// [`FramedBinary`], strict in both directions.
pub fn framed() -> FramedBinary {
    rpc_wire::Framed::new(Header::new(crate::BinaryHeader::new()))
}

/// [`FramedCompact`].
pub fn framed_compact() -> FramedCompact {
    rpc_wire::Framed::new(Header::new(crate::CompactHeader))
}

/// [`BufferedBinary`], strict in both directions.
pub fn buffered() -> BufferedBinary {
    rpc_wire::Buffered::new(Header::new(crate::BinaryHeader::new()))
}

/// [`BufferedCompact`].
pub fn buffered_compact() -> BufferedCompact {
    rpc_wire::Buffered::new(Header::new(crate::CompactHeader))
}
