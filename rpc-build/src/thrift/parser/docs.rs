//! Doc comments: which belongs to what, and their text without decoration.

use super::super::lexer::Kind;
use super::Parser;
use crate::source::Span;

impl Parser<'_> {
    /// The doc comment right before the next token: the last, if there are several.
    pub(super) fn docs_here(&self) -> Option<String> {
        let end = self.docs.partition_point(|(token, _)| *token <= self.at);
        let (token, span) = *self.docs.get(end.checked_sub(1)?)?;
        (token == self.at).then(|| self.clean(span)).flatten()
    }

    /// The comment at the top of the file: the first, if a header or the end of the file follows it, or if it is not
    /// the one next to the first definition.
    pub(super) fn file_docs(&self) -> Option<String> {
        let (_, first) = *self.docs.first().filter(|(token, _)| *token == 0)?;
        let another = self.docs.get(1).is_some_and(|(token, _)| *token == 0);
        let token = self.peek();
        let header = match token.kind {
            Kind::Word => ["namespace", "include", "cpp_include"].contains(&self.text_of(token.span)),
            Kind::End => true,
            _ => false,
        };
        (another || header).then(|| self.clean(first)).flatten()
    }

    fn clean(&self, comment: Span) -> Option<String> {
        Some(clean(self.text_of(comment))).filter(|text| !text.is_empty())
    }
}

/// Removes the delimiters, the column of stars, and the indentation that all lines share.
fn clean(comment: &str) -> String {
    let body = comment.strip_prefix("/**").unwrap_or(comment);
    let body = body.strip_suffix("*/").unwrap_or(body).trim_end_matches('*');
    let mut lines: Vec<&str> = body.lines().map(str::trim_end).collect();
    let starred =
        lines.iter().skip(1).filter(|line| !line.is_empty()).all(|line| line.trim_start().starts_with('*'));
    if let Some(first) = lines.first_mut() {
        *first = first.trim_start_matches('*').trim_start();
    }
    for line in lines.iter_mut().skip(1) {
        if starred {
            *line = line.trim_start().strip_prefix('*').unwrap_or_default();
        }
    }
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let shared = lines.iter().skip(1).filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    for line in lines.iter_mut().skip(1) {
        // all of it is white space, but not of one byte each
        *line = line.get(shared..).unwrap_or_else(|| line.trim_start());
    }
    lines.join("\n").trim_matches('\n').trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn decoration_goes_and_text_stays() {
        assert_eq!(clean("/** One line. */"), "One line.");
        assert_eq!(clean("/**\n * First.\n *\n *   - item\n * last\n */"), "First.\n\n  - item\nlast");
        assert_eq!(clean("/** First\r\n    second\r\n      third */"), "First\nsecond\n  third");
        assert_eq!(clean("/*****\n * Stars\n *****/"), "Stars");
        assert_eq!(clean("/** * a list\n * b */"), "* a list\nb");
        assert_eq!(clean("/**  */"), "");
        assert_eq!(clean("/** a\n\u{3000}b\n  c */"), "a\nb\nc");
    }
}
