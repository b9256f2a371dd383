//! The binary protocol: fixed widths, network order, 32-bit lengths.
//!
//! - `writer`, `reader`: values.
//! - `header`: what stands before a message. `grammar`: where one ends that has no frame around it.
//!
//! Source: `wire/thrift.md` §1–2.

mod grammar;
mod header;
mod reader;
mod writer;

pub use header::Header;
pub use reader::Reader;
pub use writer::Writer;
