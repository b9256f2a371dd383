//! The front end for `.thrift` files: from paths to a checked [`Model`].
//!
//! ```text
//! paths ─ load ─► text ─ lexer ─► tokens ─ parser ─► ast ─ resolve ─► model
//!          ▲                                │ include
//!          └────────────────────────────────┘
//! ```
//!
//! The language is that of Apache Thrift's compiler, with a few edges taken off: keywords may name fields, methods,
//! arguments and enum values; definitions may be used before they are declared, constants too; separators may be
//! doubled. Refused, with a location: `senum`, `xsd_*`, include cycles, id 0, ids beyond 16 bits, an unknown escape.
//! Types without a finite default value, like a struct that requires itself, are refused as well.
//!
//! Nothing stops at the first error: all files are read, parsed and checked as far as they make sense, and what was
//! found is reported together, by file and place. Hostile input can not exhaust the stack: what nests is bounded
//! ([`model::MAX_TYPE_DEPTH`], [`model::MAX_VALUE_DEPTH`]), what chains is followed in loops.

mod ast;
pub(crate) mod generate;
mod graph;
mod lexer;
mod load;
pub mod model;
mod parser;
mod resolve;

pub use load::MAX_FILE_BYTES;

use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Error;
use crate::source::SourceMap;
use load::{Disk, Files, load};
use model::Model;
use std::path::PathBuf;

/// Schemas without errors.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What they declare.
    pub model: Model,
    /// The files that were read: a build has to run again when one of them changes.
    pub sources: SourceMap,
    /// What is legal but should be looked at.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks files and all that they include. An include is searched beside the file that has it, then in
/// `include_dirs`, in order. The result does not depend on the order of `files`.
///
/// # Errors
/// Everything that is wrong, in all files, and what could not be read.
pub fn check(files: &[PathBuf], include_dirs: &[PathBuf]) -> Result<Checked, Error> {
    check_in(&Disk, files, include_dirs)
}

fn check_in(from: &dyn Files, files: &[PathBuf], include_dirs: &[PathBuf]) -> Result<Checked, Error> {
    let mut loaded = load(from, files, include_dirs);
    let (model, found) = resolve::resolve(&loaded.files, &loaded.sources);
    let mut found_all = std::mem::take(&mut loaded.found);
    found_all.extend(found);
    // by file and place; unreadable files first
    found_all.sort_by_key(|found| found.span().map(|span| (span.file, span.start)));
    if found_all.iter().any(|found| found.severity() == Severity::Error) {
        return Err(Error::new(found_all, loaded.sources));
    }
    Ok(Checked { model, sources: loaded.sources, warnings: found_all })
}

#[cfg(test)]
mod tests;
