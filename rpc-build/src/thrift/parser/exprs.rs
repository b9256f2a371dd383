//! Types, constants and annotations.

use super::super::ast::{Base, Expr, ExprKind, TypeExpr, TypeExprKind};
use super::super::lexer::{Kind, unescape};
use super::super::model::{Annotation, Annotations, MAX_TYPE_DEPTH, MAX_VALUE_DEPTH};
use super::{Parsed, Parser, RESERVED};
use crate::diagnostic::Diagnostic;
use crate::suggest::closest;

impl Parser<'_> {
    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
        self.nested(MAX_TYPE_DEPTH, "type", Self::type_here)
    }

    fn type_here(&mut self) -> Parsed<TypeExpr> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return self.unexpected("a type");
        }
        let word = self.text_of(token.span);
        if word == "slist" {
            self.found.push(
                Diagnostic::warning(token.span, "`slist` is an old name of `string`").help("write `string`"),
            );
        }
        let mut cpp_type = Annotations::default();
        let kind = if let Some(base) = Base::from_word(word) {
            self.at += 1;
            TypeExprKind::Base(base)
        } else if ["list", "set", "map"].contains(&word) {
            self.at += 1;
            self.cpp_type(&mut cpp_type)?;
            self.container(word, &mut cpp_type)?
        } else if RESERVED.contains(&word) {
            let hint = match word {
                "void" => "`void` only stands where a method's result does",
                _ => "a type is a base type, list<…>, set<…>, map<…, …>, or the name of a definition",
            };
            return self.fail(token.span, &format!("expected a type, found the keyword `{word}`"), hint);
        } else {
            self.at += 1;
            if self.at_symbol(b'<') {
                return self.not_a_container(word, token.span);
            }
            // what follows a name in parentheses belongs to the field or typedef
            return Ok(TypeExpr {
                kind: TypeExprKind::Named(word.to_owned()),
                annotations: Annotations::default(),
                span: token.span,
            });
        };
        let span = token.span.to(self.previous().span);
        let mut annotations = self.annotations()?;
        annotations.list.extend(cpp_type.list);
        Ok(TypeExpr { kind, annotations, span })
    }

    fn container(&mut self, word: &str, cpp_type: &mut Annotations) -> Parsed<TypeExprKind> {
        self.expect(b'<', &format!("behind `{word}`"))?;
        let first = Box::new(self.type_expr()?);
        let kind = match word {
            "list" => TypeExprKind::List(first),
            "set" => TypeExprKind::Set(first),
            _ => {
                self.expect(b',', "between the key and the value of a map")?;
                TypeExprKind::Map(first, Box::new(self.type_expr()?))
            }
        };
        self.expect(b'>', &format!("to end `{word}<`"))?;
        if word == "list" {
            // an old place for it
            self.cpp_type(cpp_type)?;
        }
        Ok(kind)
    }

    fn not_a_container<T>(&mut self, word: &str, at: crate::source::Span) -> Parsed<T> {
        let hint = match word {
            "stream" => {
                "Thrift's language has no streams; a streaming service is written in a .proto file".to_owned()
            }
            "optional" => "write `optional` before the type".to_owned(),
            "vector" | "array" | "repeated" => "did you mean `list`?".to_owned(),
            "hashmap" | "dict" => "did you mean `map`?".to_owned(),
            _ => match closest(word, ["list", "set", "map"]) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "only `list`, `set` and `map` take types in angle brackets".to_owned(),
            },
        };
        self.fail(at, &format!("`{word}` is not a container"), &hint)
    }

    /// `cpp_type "…"`, kept as an annotation.
    fn cpp_type(&mut self, into: &mut Annotations) -> Parsed<()> {
        let token = self.peek();
        if !self.eat_word("cpp_type") {
            return Ok(());
        }
        let (value, span) = self.literal("a C++ type, in quotes")?;
        into.list.push(Annotation {
            key: "cpp_type".to_owned(),
            value: Some(value),
            span: token.span.to(span),
        });
        Ok(())
    }

    pub(super) fn annotations(&mut self) -> Parsed<Annotations> {
        let open = self.peek().span;
        if !self.eat_symbol(b'(') {
            return Ok(Annotations::default());
        }
        let list = self.members(open, b')', "these annotations", |parser| {
            let key = parser.dotted_name("the key of an annotation")?;
            let value =
                if parser.eat_symbol(b'=') { Some(parser.literal("a value, in quotes")?.0) } else { None };
            Ok(Annotation { key: key.text, value, span: key.span.to(parser.previous().span) })
        });
        Ok(Annotations { list })
    }

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(MAX_VALUE_DEPTH, "constant", Self::expr_here)
    }

    fn expr_here(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let kind = match token.kind {
            Kind::Int(value) => ExprKind::Int(value),
            Kind::Double(value) => ExprKind::Double(value),
            Kind::Literal => ExprKind::Literal(unescape(self.text_of(token.span))),
            Kind::Word => match self.text_of(token.span) {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                name => ExprKind::Name(name.to_owned()),
            },
            Kind::Symbol(b'[') => {
                self.at += 1;
                let members = self.values(b']', "this list", Self::expr)?;
                return Ok(Expr { kind: ExprKind::List(members), span: token.span.to(self.previous().span) });
            }
            Kind::Symbol(b'{') => {
                self.at += 1;
                let members = self.values(b'}', "this map", |parser| {
                    let key = parser.expr()?;
                    parser.expect(b':', "between a key and its value")?;
                    Ok((key, parser.expr()?))
                })?;
                return Ok(Expr { kind: ExprKind::Map(members), span: token.span.to(self.previous().span) });
            }
            _ => return self.unexpected("a value"),
        };
        self.at += 1;
        Ok(Expr { kind, span: token.span })
    }

    /// The inside of a list or map. Its first error ends the whole constant: half a constant has no meaning.
    fn values<T>(
        &mut self,
        close: u8,
        what: &str,
        member: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut members = Vec::new();
        loop {
            self.separators();
            if self.eat_symbol(close) {
                return Ok(members);
            }
            if self.peek().kind == Kind::End {
                return self.unexpected(&format!("`{}` to end {what}", char::from(close)));
            }
            members.push(member(self)?);
        }
    }
}
