//! Text to tokens.
//!
//! Keywords are plain identifiers here: Thrift lets most of them name a field, so only the parser knows. Comments
//! vanish, but for doc comments (`/** … */`), which are kept beside the tokens they precede. Nothing stops the
//! lexer: what it can not read is reported and skipped.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// One token. The text of an identifier or a literal is the text of its span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name, possibly with dots inside.
    Word,
    Int(i64),
    Double(f64),
    /// A quoted string; [`unescape`] gives its value.
    Literal,
    Symbol(u8),
    End,
}

/// The tokens of a file, [`Kind::End`] last.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    /// Doc comments: the index of the token that follows, and the comment with its delimiters. Ordered.
    pub(crate) docs: Vec<(usize, Span)>,
    /// Indices of tokens before which something was skipped and reported. Ordered.
    pub(crate) skipped: Vec<usize>,
}

pub(crate) fn lex(text: &str, file: FileId, found: &mut Vec<Diagnostic>) -> Tokens {
    let mut lexer =
        Lexer { text, file, at: 0, tokens: Vec::new(), docs: Vec::new(), skipped: Vec::new(), found };
    lexer.run();
    Tokens { tokens: lexer.tokens, docs: lexer.docs, skipped: lexer.skipped }
}

/// The value of a literal, given with its quotes. Unknown escapes were reported by the lexer and stay as they are.
pub(crate) fn unescape(literal: &str) -> String {
    let mut chars = literal.chars();
    let quote = chars.next();
    let mut value = String::with_capacity(literal.len());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => value.push('\\'),
            },
            c if Some(c) == quote => break,
            c => value.push(c),
        }
    }
    value
}

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    tokens: Vec<Token>,
    docs: Vec<(usize, Span)>,
    skipped: Vec<usize>,
    found: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0c => self.at += 1,
                b'#' => self.line_comment(),
                b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                b'"' | b'\'' => self.literal(byte),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    self.word();
                    self.push(start, Kind::Word);
                }
                b'0'..=b'9' => self.number(),
                b'.' if is_digit(self.peek(1)) => self.number(),
                b'+' | b'-' if is_digit(self.peek(1)) => self.number(),
                b'+' | b'-' if self.peek(1) == Some(b'.') && is_digit(self.peek(2)) => self.number(),
                b':' | b';' | b',' | b'{' | b'}' | b'(' | b')' | b'=' | b'<' | b'>' | b'[' | b']' | b'*'
                | b'&' => {
                    self.at += 1;
                    self.push(start, Kind::Symbol(byte));
                }
                _ => self.unexpected(),
            }
        }
        self.push(self.at, Kind::End);
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    fn push(&mut self, start: usize, kind: Kind) {
        self.tokens.push(Token { kind, span: self.span(start) });
    }

    fn line_comment(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let body = self.text.get(start + 2..).unwrap_or_default();
        let Some(length) = body.find("*/") else {
            self.at = self.text.len();
            self.skipped.push(self.tokens.len());
            let opening = Span::new(self.file, start, start + 2);
            self.found.push(
                Diagnostic::error(opening, "this comment is never closed")
                    .label("opened here")
                    .help("close it with `*/`"),
            );
            return;
        };
        self.at = start + 2 + length + 2;
        // `/**/` and rows of stars are decoration
        let is_doc =
            body.starts_with('*') && body.get(..length).is_some_and(|body| body.contains(|c| c != '*'));
        if is_doc {
            self.docs.push((self.tokens.len(), self.span(start)));
        }
    }

    fn literal(&mut self, quote: u8) {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None | Some(b'\n') => {
                    if self.peek(0).is_some() && self.text.as_bytes().get(self.at - 1) == Some(&b'\r') {
                        self.at -= 1;
                    }
                    self.found.push(
                        Diagnostic::error(self.span(start), "this string is never closed")
                            .label("it has to end on the line on which it begins")
                            .help(format!("close it with `{}`", char::from(quote))),
                    );
                    break;
                }
                Some(b'\\') => self.escape(),
                Some(byte) if byte == quote => {
                    self.at += 1;
                    break;
                }
                Some(_) => self.at += 1,
            }
        }
        self.push(start, Kind::Literal);
    }

    fn escape(&mut self) {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else { return };
        match next {
            'n' | 'r' | 't' | '"' | '\'' | '\\' => self.at += 1,
            '\n' | '\r' => {}
            other => {
                self.at += other.len_utf8();
                self.found.push(
                    Diagnostic::error(self.span(start), format!("unknown escape `\\{other}` in a string"))
                        .help(r#"the escapes are \n \r \t \\ \" \'"#),
                );
            }
        }
    }

    /// `[A-Za-z_]` and then letters, digits, `_`, and dots that one of these follows.
    fn word(&mut self) {
        loop {
            match self.peek(0) {
                Some(byte) if is_word(byte) => self.at += 1,
                Some(b'.') if self.peek(1).is_some_and(is_word) => self.at += 1,
                _ => break,
            }
        }
    }

    fn number(&mut self) {
        let start = self.at;
        if matches!(self.peek(0), Some(b'+' | b'-')) {
            self.at += 1;
        }
        let kind = if self.peek(0) == Some(b'0')
            && matches!(self.peek(1), Some(b'x' | b'X'))
            && self.peek(2).is_some_and(|byte| byte.is_ascii_hexdigit())
        {
            self.at += 2;
            self.skip(|byte| byte.is_ascii_hexdigit());
            self.integer(start, 16)
        } else {
            self.decimal(start)
        };
        if self.peek(0).is_some_and(is_word) {
            self.word();
            self.found.push(
                Diagnostic::error(
                    self.span(start),
                    format!("`{}` is no number and no name", self.since(start)),
                )
                .help("a name begins with a letter or `_`; put a blank or a separator after a number"),
            );
        }
        self.push(start, kind);
    }

    fn decimal(&mut self, start: usize) -> Kind {
        self.skip(|byte| byte.is_ascii_digit());
        let mut is_double = false;
        if self.peek(0) == Some(b'.') && is_digit(self.peek(1)) {
            is_double = true;
            self.at += 1;
            self.skip(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if is_digit(self.peek(1 + sign)) {
                is_double = true;
                self.at += 1 + sign;
                self.skip(|byte| byte.is_ascii_digit());
            }
        }
        if !is_double {
            return self.integer(start, 10);
        }
        match self.since(start).parse::<f64>() {
            Ok(value) if value.is_finite() => Kind::Double(value),
            _ => {
                self.found.push(Diagnostic::error(self.span(start), "this number does not fit a double"));
                Kind::Double(0.0)
            }
        }
    }

    fn integer(&mut self, start: usize, radix: u32) -> Kind {
        let text = self.since(start);
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        let digits = if radix == 16 { digits.get(2..).unwrap_or_default() } else { digits };
        match i64::from_str_radix(&format!("{sign}{digits}"), radix) {
            Ok(value) => Kind::Int(value),
            Err(_) => {
                self.found.push(
                    Diagnostic::error(self.span(start), "this integer does not fit 64 bits").help(format!(
                        "integers range from {} to {}",
                        i64::MIN,
                        i64::MAX
                    )),
                );
                Kind::Int(0)
            }
        }
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn since(&self, start: usize) -> &str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// One report for a run of characters that no token begins with.
    fn unexpected(&mut self) {
        let start = self.at;
        self.skipped.push(self.tokens.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let fits = |c: char| {
            c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "_#/\"'+-:;,{}()=<>[]*&".contains(c)
        };
        self.at += rest.find(fits).unwrap_or(rest.len());
        if self.at == start {
            // a lone slash or sign
            self.at += 1;
        }
        let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let shown: String = self.since(start).chars().take(20).map(visible).collect();
        let hint = match shown.as_str() {
            "/" => Some("comments are `// …`, `# …` and `/* … */`"),
            "." => Some("a dot has to stand between two names or before a digit"),
            "@" => Some("annotations stand in parentheses behind what they describe: `(key = \"value\")`"),
            _ => None,
        };
        self.found.push(
            Diagnostic::error(self.span(start), format!("unexpected `{shown}`"))
                .maybe_help(hint.map(str::to_owned)),
        );
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    fn run(text: &str) -> (Vec<Kind>, Vec<String>, Vec<String>) {
        let mut sources = SourceMap::default();
        let file = sources.add("a.thrift".into(), text.into());
        let mut found = Vec::new();
        let Tokens { tokens, docs, .. } = lex(text, file, &mut found);
        let docs = docs.iter().map(|(at, span)| format!("{at} {}", sources.text(*span))).collect();
        let found = found.iter().map(|found| found.one_line(&sources)).collect();
        (tokens.iter().map(|token| token.kind).collect(), docs, found)
    }

    #[test]
    fn numbers() {
        let (kinds, _, found) = run("1 -0x10 +7 0xfF -9223372036854775808 1e3 -.5 2.5E-1 e10 .5");
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(
            kinds,
            [
                Kind::Int(1),
                Kind::Int(-16),
                Kind::Int(7),
                Kind::Int(255),
                Kind::Int(i64::MIN),
                Kind::Double(1000.0),
                Kind::Double(-0.5),
                Kind::Double(0.25),
                Kind::Word,
                Kind::Double(0.5),
                Kind::End
            ]
        );
    }

    #[test]
    fn numbers_that_do_not_fit_are_located() {
        let (_, _, found) = run("9223372036854775808\n 1e999 0x1ffffffffffffffff\n12ab");
        assert_eq!(found.len(), 4);
        assert!(found[0].starts_with("a.thrift:1:1: this integer does not fit 64 bits"), "{found:?}");
        assert!(found[1].starts_with("a.thrift:2:2: this number does not fit a double"), "{found:?}");
        assert!(found[2].starts_with("a.thrift:2:8: this integer"), "{found:?}");
        assert!(found[3].starts_with("a.thrift:3:1: `12ab` is no number"), "{found:?}");
    }

    #[test]
    fn comments_vanish_and_docs_stay() {
        let (kinds, docs, found) =
            run("/**/ /***/ /*****/ # x\r\na // y\n /** doc */ b /* no */ /** last */");
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(kinds, [Kind::Word, Kind::Word, Kind::End]);
        assert_eq!(docs, ["1 /** doc */", "2 /** last */"]);
    }

    #[test]
    fn literals() {
        let (kinds, _, found) = run(r#" "a'b\"\n" 'a"b\'' "é" "#);
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(kinds, [Kind::Literal, Kind::Literal, Kind::Literal, Kind::End]);
        assert_eq!(unescape(r#""a'b\"\n\\""#), "a'b\"\n\\");
        assert_eq!(unescape(r#"'a"b\''"#), "a\"b'");
    }

    #[test]
    fn unfinished_things_are_located() {
        let (_, _, found) = run("'abc\r\n\"x\\q\" \u{1} @ /* never");
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(found[0].starts_with("a.thrift:1:1: this string is never closed"));
        assert!(found[1].starts_with("a.thrift:2:3: unknown escape `\\q`"));
        assert!(found[2].starts_with("a.thrift:2:7: unexpected `\u{fffd}`"));
        assert!(found[3].starts_with("a.thrift:2:9: unexpected `@`"));
        assert!(found[4].starts_with("a.thrift:2:11: this comment is never closed"));
    }

    #[test]
    fn dots_belong_to_names_only_between_them() {
        let (kinds, _, found) = run("a.b._c.9 a. b");
        assert_eq!(kinds, [Kind::Word, Kind::Word, Kind::Word, Kind::End]);
        assert_eq!(found.len(), 1);
    }
}
