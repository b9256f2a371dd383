//! Tokens to a tree, by recursive descent.
//!
//! - `mod.rs`: the cursor, recovery, and the list of headers and definitions that is a file
//! - `items.rs`: definitions, fields, methods
//! - `exprs.rs`: types, constants, annotations
//! - `docs.rs`: doc comments
//!
//! Keywords are recognised by position, so that a field may be called `list` and a method `union`. Only a type or a
//! service can not be named like a keyword, since nothing could refer to it.
//!
//! A rule that meets something unexpected reports it and returns [`Broken`]; the nearest list (of fields, values,
//! methods, definitions) then skips to where its next member can begin, and goes on. So one run finds all errors.

mod docs;
mod exprs;
mod items;

use super::ast::{File, Include, Item, Name, Namespace};
use super::lexer::{Kind, Token, Tokens, lex, unescape};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use crate::suggest::closest;

/// Words that begin a header or a definition.
const BEGINNINGS: [&str; 10] = [
    "namespace",
    "include",
    "cpp_include",
    "typedef",
    "enum",
    "struct",
    "union",
    "exception",
    "const",
    "service",
];

/// Words that no type and no service can be named.
const RESERVED: [&str; 32] = [
    "namespace",
    "include",
    "cpp_include",
    "cpp_type",
    "typedef",
    "enum",
    "senum",
    "struct",
    "union",
    "exception",
    "const",
    "service",
    "extends",
    "throws",
    "oneway",
    "required",
    "optional",
    "void",
    "bool",
    "byte",
    "i8",
    "i16",
    "i32",
    "i64",
    "double",
    "string",
    "binary",
    "uuid",
    "slist",
    "list",
    "set",
    "map",
];

/// Parses a text. Errors are added to `found`; what could be understood is returned all the same.
pub(crate) fn parse(text: &str, file: FileId, found: &mut Vec<Diagnostic>) -> File {
    let Tokens { tokens, docs, skipped } = lex(text, file, found);
    let mut parser = Parser { text, tokens, docs, skipped, at: 0, depth: 0, found };
    parser.file()
}

/// Something was reported, and the rule can not go on.
struct Broken;

type Parsed<T> = Result<T, Broken>;

struct Parser<'a> {
    text: &'a str,
    /// Ends with [`Kind::End`], which is never stepped over.
    tokens: Vec<Token>,
    docs: Vec<(usize, Span)>,
    /// Tokens before which the lexer reported something, so that there is no need to wonder about them again.
    skipped: Vec<usize>,
    at: usize,
    /// Levels of the type or constant that is being read.
    depth: usize,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> File {
        let mut file = File { docs: self.file_docs(), ..File::default() };
        loop {
            while self.eat_symbol(b',') || self.eat_symbol(b';') {}
            if self.peek().kind == Kind::End {
                return file;
            }
            let before = self.at;
            if self.top_level(&mut file).is_err() {
                if self.at == before {
                    self.at += 1;
                }
                while !self.at_beginning() && self.peek().kind != Kind::End {
                    self.at += 1;
                }
            }
        }
    }

    fn top_level(&mut self, file: &mut File) -> Parsed<()> {
        let token = self.peek();
        if token.kind != Kind::Word && self.was_reported() {
            return Err(Broken);
        }
        if token.kind != Kind::Word {
            let hint = match token.kind {
                Kind::Symbol(b'}') => "there are more closing braces than opening ones before it",
                _ => {
                    "a file holds includes and namespaces, then typedefs, enums, structs, unions, exceptions, \
                      constants and services"
                }
            };
            return self.fail(token.span, "expected a definition", hint);
        }
        match self.keyword(token)? {
            "namespace" => {
                self.header_place(file, token);
                file.namespaces.push(self.namespace()?);
            }
            "include" => {
                self.header_place(file, token);
                self.at += 1;
                let (path, span) = self.literal("the path of a file, in quotes")?;
                file.includes.push(Include { path, span });
            }
            "cpp_include" => {
                self.header_place(file, token);
                self.at += 1;
                self.literal("the path of a C++ header, in quotes")?;
            }
            "typedef" => file.items.push(Item::Typedef(self.typedef()?)),
            "enum" => file.items.push(Item::Enum(self.enumeration()?)),
            "struct" | "union" | "exception" => file.items.push(Item::Struct(self.structure()?)),
            "const" => file.items.push(Item::Const(self.constant()?)),
            "service" => file.items.push(Item::Service(self.service()?)),
            _ => return Err(Broken),
        }
        Ok(())
    }

    /// The keyword that a definition begins with. A misspelt one is reported and read as what was meant.
    fn keyword(&mut self, token: Token) -> Parsed<&'static str> {
        let word = self.text_of(token.span);
        if let Some(keyword) = BEGINNINGS.into_iter().find(|keyword| *keyword == word) {
            return Ok(keyword);
        }
        if word == "senum" {
            return self.fail(
                token.span,
                "`senum` is not supported",
                "it was removed from Thrift; use `enum`, or fields of type `string`",
            );
        }
        if word.ends_with("_namespace")
            || ["java_package", "py_module", "perl_package", "smalltalk_category", "smalltalk_prefix"]
                .contains(&word)
        {
            return self.fail(
                token.span,
                &format!("`{word}` was removed from Thrift"),
                "write `namespace <language> <name>`",
            );
        }
        let meant = closest(word, BEGINNINGS).or(match word {
            "message" | "class" | "type" => Some("struct"),
            "interface" => Some("service"),
            "import" => Some("include"),
            "error" => Some("exception"),
            _ => None,
        });
        let Some(meant) = meant else {
            return self.fail(
                token.span,
                &format!("expected a definition, found `{word}`"),
                "a definition begins with typedef, enum, struct, union, exception, const or service",
            );
        };
        self.found.push(
            Diagnostic::error(token.span, format!("unknown keyword `{word}`"))
                .label("not a keyword")
                .help(format!("did you mean `{meant}`?")),
        );
        if matches!(self.peek_at(1).kind, Kind::Word | Kind::Literal) { Ok(meant) } else { Err(Broken) }
    }

    fn header_place(&mut self, file: &File, token: Token) {
        if !file.items.is_empty() {
            let word = self.text_of(token.span).to_owned();
            self.found.push(
                Diagnostic::error(token.span, format!("`{word}` stands behind a definition"))
                    .help("move it to the top of the file, before the first definition"),
            );
        }
    }

    fn namespace(&mut self) -> Parsed<Namespace> {
        self.at += 1;
        let star = self.peek();
        let scope = if self.eat_symbol(b'*') {
            Name { text: "*".to_owned(), span: star.span }
        } else {
            self.dotted_name("a language, or `*` for all")?
        };
        let value = self.dotted_name("a namespace")?;
        Ok(Namespace { scope, value, annotations: self.annotations()? })
    }

    // --- the cursor

    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    /// The token before the cursor; the first one at the very beginning.
    fn previous(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len()).saturating_sub(1)]
    }

    fn text_of(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn at_symbol(&self, symbol: u8) -> bool {
        self.peek().kind == Kind::Symbol(symbol)
    }

    fn eat_symbol(&mut self, symbol: u8) -> bool {
        let found = self.at_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    fn at_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Word && self.text_of(token.span) == word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.at += usize::from(found);
        found
    }

    /// Any number of `,` and `;`.
    fn separators(&mut self) {
        while self.eat_symbol(b',') || self.eat_symbol(b';') {}
    }

    /// Steps over a symbol, or says that it is missing.
    fn expect(&mut self, symbol: u8, purpose: &str) -> Parsed<Span> {
        let token = self.peek();
        if self.eat_symbol(symbol) {
            return Ok(token.span);
        }
        self.unexpected(&format!("`{}` {purpose}", char::from(symbol)))
    }

    /// A name without dots, which may be a keyword.
    fn simple_name(&mut self, what: &str) -> Parsed<Name> {
        let name = self.dotted_name(what)?;
        if name.text.contains('.') {
            let hint =
                "dots only separate a file or an enum from what it contains, where something is referred to";
            self.found.push(
                Diagnostic::error(
                    name.span,
                    format!("`{}` can not be declared: it contains a dot", name.text),
                )
                .help(hint),
            );
        }
        Ok(name)
    }

    fn dotted_name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return self.unexpected(what);
        }
        self.at += 1;
        Ok(Name { text: self.text_of(token.span).to_owned(), span: token.span })
    }

    fn literal(&mut self, what: &str) -> Parsed<(String, Span)> {
        let token = self.peek();
        if token.kind != Kind::Literal {
            return self.unexpected(what);
        }
        self.at += 1;
        Ok((unescape(self.text_of(token.span)), token.span))
    }

    // --- reports and recovery

    /// Reports that the next token is not what had to come.
    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        if self.was_reported() {
            return Err(Broken);
        }
        let token = self.peek();
        let diagnostic = if token.kind == Kind::End {
            Diagnostic::error(self.place(), format!("expected {expected}, found the end of the file"))
                .label(format!("expected {expected} behind this"))
        } else {
            let shown: String = self.text_of(token.span).chars().take(40).collect();
            Diagnostic::error(token.span, format!("expected {expected}, found `{shown}`"))
                .label(format!("expected {expected}"))
        };
        self.found.push(diagnostic);
        Err(Broken)
    }

    /// Whether the lexer skipped something right before the next token.
    fn was_reported(&self) -> bool {
        self.skipped.binary_search(&self.at).is_ok()
    }

    /// The next token, or the last one at the end of the file, where there is nothing to show.
    fn place(&self) -> Span {
        match self.peek().kind {
            Kind::End => self.previous().span,
            _ => self.peek().span,
        }
    }

    fn fail<T>(&mut self, at: Span, message: &str, hint: &str) -> Parsed<T> {
        self.found.push(Diagnostic::error(at, message).help(hint));
        Err(Broken)
    }

    /// Whether a header or a definition begins here: a keyword, and what has to follow it.
    fn at_beginning(&self) -> bool {
        let token = self.peek();
        if token.kind != Kind::Word {
            return false;
        }
        let next = self.peek_at(1);
        match self.text_of(token.span) {
            "include" | "cpp_include" => next.kind == Kind::Literal,
            "namespace" => matches!(next.kind, Kind::Word | Kind::Symbol(b'*')),
            "typedef" | "const" => next.kind == Kind::Word,
            "enum" | "struct" | "union" | "exception" => {
                next.kind == Kind::Word && self.peek_at(2).kind == Kind::Symbol(b'{')
            }
            "service" => {
                next.kind == Kind::Word && matches!(self.peek_at(2).kind, Kind::Symbol(b'{') | Kind::Word)
            }
            _ => false,
        }
    }

    /// Reads members up to `close`. A broken member is skipped; so is the rest if a definition begins where a member
    /// should, for then the closing symbol was forgotten.
    fn members<T>(
        &mut self,
        open: Span,
        close: u8,
        what: &str,
        member: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Vec<T> {
        let mut members = Vec::new();
        loop {
            self.separators();
            if self.eat_symbol(close) {
                return members;
            }
            // `}` and `throws` can not stand in parentheses
            let outside = close == b')' && (self.at_symbol(b'}') || self.at_word("throws"));
            if self.peek().kind == Kind::End || self.at_beginning() || outside {
                self.missing(open, close, what);
                return members;
            }
            let before = self.at;
            match member(self) {
                Ok(member) => members.push(member),
                Err(Broken) => self.skip_member(before, close),
            }
        }
    }

    fn missing(&mut self, open: Span, close: u8, what: &str) {
        if self.was_reported() {
            return;
        }
        let close = char::from(close);
        let side = if self.peek().kind == Kind::End { "behind" } else { "before" };
        let mut diagnostic = Diagnostic::error(self.place(), format!("expected `{close}` to end {what}"))
            .label(format!("`{close}` is missing {side} this"))
            .help(format!("add `{close}` behind the last member"));
        if open != self.place() {
            diagnostic = diagnostic.also(open, "opened here");
        }
        self.found.push(diagnostic);
    }

    /// Skips to the end of a member that could not be read: a separator, the closing symbol, the id of the next field,
    /// or a definition. Bracketed parts are skipped as a whole.
    fn skip_member(&mut self, before: usize, close: u8) {
        if self.at == before && !self.at_symbol(close) {
            self.at += 1;
        }
        let mut open = 0usize;
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => return,
                _ if self.at_beginning() => return,
                Kind::Symbol(symbol) if open == 0 && symbol == close => return,
                // whatever it closes, it is not ours
                Kind::Symbol(b'}') if open == 0 => return,
                Kind::Symbol(b',' | b';') if open == 0 => return,
                Kind::Int(_) if open == 0 && self.peek_at(1).kind == Kind::Symbol(b':') => return,
                Kind::Symbol(b'{' | b'(' | b'[') => open += 1,
                Kind::Symbol(b'}' | b')' | b']') => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Runs a rule one level deeper; refuses more than `limit` levels.
    fn nested<T>(
        &mut self,
        limit: usize,
        what: &str,
        rule: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        if self.depth >= limit {
            let at = self.peek().span;
            return self.fail(
                at,
                &format!("this {what} is nested too deeply"),
                &format!("at most {limit} levels are allowed; name a part of it"),
            );
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }
}
