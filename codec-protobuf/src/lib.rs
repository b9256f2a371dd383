//! Protobuf payloads, for the types that prost makes, and the message header that Kitex puts before them.
//!
//! - `protobuf`: [`Protobuf`], the codec.
//! - `kitex`: [`KitexHeader`]; `Framed<KitexHeader>` is what Kitex calls framed Protobuf.
//! - `fuzz`: bodies for fuzzers, which the unit tests run as well.
//!
//! # Where prost sets the bounds
//! - Reading: nesting deeper than 100 is an error. The limit is prost's and can not be changed while running.
//! - Writing: prost has no limit and recurses, so a value that the application itself nests tens of thousands of levels
//!   deep can overflow the stack. Nothing that was read is that deep.
//! - A `-0.0` in a field without presence is left out by prost, since it compares equal to zero; the reader gets `0.0`.
//! - Unknown fields are skipped and are not there when a value is written again.
#![warn(clippy::indexing_slicing)]

#[cfg(test)]
mod cases;
pub mod fuzz;
mod kitex;
mod protobuf;

pub use kitex::KitexHeader;
pub use protobuf::Protobuf;
