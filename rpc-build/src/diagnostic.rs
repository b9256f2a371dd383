//! One thing to tell the author of a schema, and how it is shown.
//!
//! A report names the file, the line and the column, shows the line with the offending text underlined, and where
//! possible says what to do. Rendering is miette's, without colours: cargo captures what a build script prints.

use crate::source::{SourceMap, Span};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::sync::Arc;

/// A line longer than this many bytes is not printed; its place is named instead.
const MAX_SHOWN_LINE: usize = 500;
const WIDTH: usize = 110;

/// Whether a [`Diagnostic`] stops the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// No code is generated.
    Error,
    /// The build goes on, and cargo prints a line.
    Warning,
}

/// One error or warning about a schema.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    severity: Severity,
    message: String,
    /// The place it is about, and what to say under the marker. Absent when no file could be read.
    place: Option<(Span, String)>,
    others: Vec<(Span, String)>,
    help: Option<String>,
    /// What another library said of it, where one found it.
    foreign: Option<Foreign>,
}

#[derive(Clone, Debug)]
struct Foreign {
    /// The whole report.
    report: Option<String>,
    /// `file:line:column`, or the file.
    place: Option<String>,
}

impl Diagnostic {
    pub(crate) fn error(at: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, Some((at, String::new())), message.into())
    }

    pub(crate) fn warning(at: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, Some((at, String::new())), message.into())
    }

    /// An error outside of any text, like a file that is not there.
    pub(crate) fn nowhere(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, None, message.into())
    }

    /// An error that another library found, with its report. One without a place is of the whole file.
    #[cfg(feature = "proto")]
    pub(crate) fn foreign(error: &dyn miette::Diagnostic, file: Option<&std::path::Path>) -> Self {
        let foreign = match foreign_place(error) {
            Some(place) => Foreign { report: print(error).ok(), place: Some(place) },
            None => Foreign { report: None, place: file.map(|file| file.display().to_string()) },
        };
        Self { foreign: Some(foreign), ..Self::new(Severity::Error, None, error.to_string()) }
    }

    /// An error in a file whose text is not at hand, with its `file:line:column`.
    #[cfg(feature = "proto")]
    pub(crate) fn at(place: String, message: impl Into<String>) -> Self {
        let foreign = Foreign { report: None, place: Some(place) };
        Self { foreign: Some(foreign), ..Self::nowhere(message) }
    }

    fn new(severity: Severity, place: Option<(Span, String)>, message: String) -> Self {
        Self { severity, message, place, others: Vec::new(), help: None, foreign: None }
    }

    /// What stands under the marked text.
    pub(crate) fn label(mut self, text: impl Into<String>) -> Self {
        if let Some((_, label)) = &mut self.place {
            *label = text.into();
        }
        self
    }

    /// A second place that explains the first, in the same file or in another.
    pub(crate) fn also(mut self, at: Span, text: impl Into<String>) -> Self {
        self.others.push((at, text.into()));
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    pub(crate) fn maybe_help(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Whether it stops the build.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, if there is something to suggest.
    pub fn hint(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The place it is about; `None` if a file could not be read at all, and for errors in `.proto` files, whose places are in
    /// what [`one_line`](Self::one_line) and [`render`](Self::render) say.
    pub fn span(&self) -> Option<Span> {
        self.place.as_ref().map(|(span, _)| *span)
    }

    /// `file:line:column: message`, on one line, as `cargo::warning` needs it.
    pub fn one_line(&self, sources: &SourceMap) -> String {
        let foreign = || self.foreign.as_ref()?.place.clone();
        let place = self.span().map(|span| sources.locate(span)).or_else(foreign);
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let help = self.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{place}{}{help}", self.message).replace(['\n', '\r'], " ")
    }

    /// The full report, of several lines, with the text it is about.
    pub fn render(&self, sources: &SourceMap) -> String {
        match &self.foreign {
            Some(Foreign { report: Some(report), .. }) => report.clone(),
            Some(_) => format!("  × {}\n", self.one_line(sources)),
            None => print(&Report::new(self, sources)).unwrap_or_else(|_| self.one_line(sources)),
        }
    }
}

/// Where the first label of another library's error stands.
#[cfg(feature = "proto")]
fn foreign_place(error: &dyn miette::Diagnostic) -> Option<String> {
    let labels: Vec<LabeledSpan> = error.labels()?.collect();
    let label = labels.iter().find(|label| label.primary()).or(labels.first())?;
    let text = error.source_code()?.read_span(label.inner(), 0, 0).ok()?;
    Some(format!("{}:{}:{}", text.name()?, text.line() + 1, text.column() + 1))
}

fn print(report: &dyn miette::Diagnostic) -> Result<String, fmt::Error> {
    let mut out = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(WIDTH)
        .with_links(false);
    handler.render_report(&mut out, report)?;
    // miette ends some lines with blanks
    Ok(out.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// A diagnostic together with the texts it points to, in the form that miette prints.
struct Report {
    severity: miette::Severity,
    message: String,
    help: Option<String>,
    source: Option<NamedSource<Arc<str>>>,
    labels: Vec<LabeledSpan>,
    related: Vec<Report>,
}

impl Report {
    fn new(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        let mut report = Self {
            severity: match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
            },
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            source: None,
            labels: Vec::new(),
            related: Vec::new(),
        };
        if let Some((span, label)) = &diagnostic.place {
            report.point_at(sources, *span, label, true);
            for (other, label) in &diagnostic.others {
                if report.source.is_some() && other.file == span.file && is_showable(sources, *other) {
                    report.point_at(sources, *other, label, false);
                } else {
                    report.related.push(Self::elsewhere(sources, *other, label));
                }
            }
        }
        report
    }

    fn elsewhere(sources: &SourceMap, at: Span, message: &str) -> Self {
        let mut report = Self {
            severity: miette::Severity::Advice,
            message: message.to_owned(),
            help: None,
            source: None,
            labels: Vec::new(),
            related: Vec::new(),
        };
        report.point_at(sources, at, "", true);
        report
    }

    fn point_at(&mut self, sources: &SourceMap, at: Span, label: &str, primary: bool) {
        if !is_showable(sources, at) {
            self.message = format!("{}: {}", sources.locate(at), self.message);
            return;
        }
        if self.source.is_none() {
            let file = sources.file(at.file);
            self.source = Some(NamedSource::new(file.path().display().to_string(), file.shared_text()));
        }
        let text = Some(label.to_owned()).filter(|label| !label.is_empty());
        let (start, length) = (at.start as usize, at.len());
        self.labels.push(if primary {
            LabeledSpan::new_primary_with_span(text, (start, length))
        } else {
            LabeledSpan::new_with_span(text, (start, length))
        });
    }
}

/// Whether the lines of a place are short enough to print.
fn is_showable(sources: &SourceMap, at: Span) -> bool {
    let text = sources.file(at.file).text();
    let start = text.get(..at.start as usize).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end = text.get(at.end as usize..).and_then(|after| after.find('\n'));
    let end = end.map_or(text.len(), |length| at.end as usize + length);
    text.get(start..end).is_some_and(|lines| lines.lines().all(|line| line.len() <= MAX_SHOWN_LINE))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.related.is_empty() {
            return None;
        }
        Some(Box::new(self.related.iter().map(|report| report as &dyn miette::Diagnostic)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> (SourceMap, Span) {
        let mut map = SourceMap::default();
        let file = map.add("a.thrift".into(), text.into());
        (map, Span::new(file, text.len() - 1, text.len()))
    }

    #[test]
    fn one_line_has_place_message_and_hint() {
        let (map, at) = sources("ab\nc");
        let line = Diagnostic::warning(at, "odd\nthing").help("change it").one_line(&map);
        assert_eq!(line, "a.thrift:2:1: odd thing (change it)");
    }

    #[test]
    fn a_very_long_line_is_located_and_not_printed() {
        let (map, at) = sources(&"x".repeat(10_000));
        let text = Diagnostic::error(at, "odd").render(&map);
        assert!(text.contains("a.thrift:1:10000: odd"), "{text}");
        assert!(text.len() < 200, "{text}");
    }
}
