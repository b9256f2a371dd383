//! The error of a build.

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::SourceMap;
use std::fmt;

/// Why nothing was generated: every error found in the schemas.
///
/// Both `{}` and `{:?}` print all reports, so that a build script can return it from `main`. There is no backtrace.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
}

impl Error {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Self {
        Self { inner: Box::new(Inner { diagnostics, sources }) }
    }

    pub(crate) fn message(message: impl Into<String>) -> Self {
        Self::new(vec![Diagnostic::nowhere(message)], SourceMap::default())
    }

    /// Both errors, where what `other` found carries its own texts.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.inner.diagnostics.extend(other.inner.diagnostics);
        self
    }

    /// The errors and warnings, by file and place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.inner.diagnostics
    }

    /// The files that were read before the build failed. It has to run again when one of them changes.
    pub fn sources(&self) -> &SourceMap {
        &self.inner.sources
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.diagnostics().iter().filter(|found| found.severity() == Severity::Error);
        let mut count = 0;
        for diagnostic in errors {
            writeln!(f, "{}", diagnostic.render(self.sources()))?;
            count += 1;
        }
        write!(f, "{count} {} in the schemas", if count == 1 { "error" } else { "errors" })
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `main` prints "Error: " before it, which would shift the first report
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Error {}
