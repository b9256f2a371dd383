//! The texts that were read, and places in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    pub(crate) fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: offset(start), end: offset(end) }
    }

    /// From the start of `self` to the end of `last`, which follows it in the same file.
    pub(crate) fn to(self, last: Span) -> Self {
        Self { end: last.end.max(self.end), ..self }
    }

    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Files are refused above [`crate::thrift::MAX_FILE_BYTES`], so nothing saturates here.
fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Every file that was read, each once, in the order of reading.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

/// One file that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    path: PathBuf,
    text: Arc<str>,
}

impl SourceMap {
    pub(crate) fn add(&mut self, path: PathBuf, text: Arc<str>) -> FileId {
        let id = FileId(offset(self.files.len()));
        self.files.push(SourceFile { path, text });
        id
    }

    /// The file behind an id of this map.
    ///
    /// # Panics
    /// If the id belongs to another map that holds more files.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    /// All files, in the order of reading. A build has to run again when one of them changes.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The text of a place. Empty for a span of another map.
    pub fn text(&self, span: Span) -> &str {
        let text = &self.file(span.file).text;
        text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Line and column where a place begins, both counted from 1, the column in characters.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let text = &self.file(span.file).text;
        let before = text.get(..span.start as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// `file:line:column` of a place.
    pub fn locate(&self, span: Span) -> String {
        let (line, column) = self.position(span);
        format!("{}:{line}:{column}", self.file(span.file).path.display())
    }
}

impl SourceFile {
    /// The path by which the file was reached: as given, or the folder of the including file joined with
    /// the path of the include.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text, without a byte-order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_lines() {
        let mut map = SourceMap::default();
        let file = map.add("a.thrift".into(), "é b\r\ncd\n".into());
        assert_eq!(map.position(Span::new(file, 3, 4)), (1, 3));
        assert_eq!(map.position(Span::new(file, 6, 8)), (2, 1));
        assert_eq!(map.text(Span::new(file, 6, 8)), "cd");
        assert_eq!(map.locate(Span::new(file, 9, 9)), "a.thrift:3:1");
    }

    #[test]
    fn a_span_outside_the_text_is_empty() {
        let mut map = SourceMap::default();
        let file = map.add("a.thrift".into(), "é".into());
        assert_eq!(map.text(Span::new(file, 1, 9)), "");
        assert_eq!(map.position(Span::new(file, 9, 9)), (1, 2));
    }
}
