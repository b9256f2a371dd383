//! Small schemas, each of one trap and called after it.
//!
//! - `idl`: those that are right. Each is generated, and its samples go there and back; what Apache's Python writes for the same
//!   samples is read and written alike. What they include is in `idl/parts`.
//! - `invalid`: those that are wrong. Each says in comments at its top which errors it has: `// error 3:12 what is wrong (what to
//!   do)`, with the name of the file before the place where that is another.
//!
//! A schema is added by putting a file into a folder. A sample is a constant `SAMPLE` of a struct in a `.thrift` file: Apache's
//! generated code has the same constant, so no value is written twice. It gives every field that is not optional, since an
//! unset one is written here and left out by Python. In a `.proto` file it is a comment, `// sample path::Message 08 01`: the
//! message's path in Rust, and its bytes.
//!
//! Warnings are written at the top of a file as errors are. Where Apache's compiler takes a file that we refuse, or the reverse,
//! the file says why, and is listed in [`apache`].

pub mod apache;
mod comments;
mod sample;
mod tree;

pub use comments::{Expected, expected, folder, says_why};
pub use sample::{Protocol, Sample};
pub use schemas::samples;
pub use tree::Tree;

/// What was generated: a module for each schema of `idl`.
pub mod schemas {
    use crate::Sample;

    include!(concat!(env!("OUT_DIR"), "/corpus.rs"));
}
