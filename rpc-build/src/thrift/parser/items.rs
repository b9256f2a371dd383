//! Definitions and their members.

use super::super::ast::{Const, Enum, EnumValue, Field, Head, Method, Name, Service, Struct, Typedef};
use super::super::lexer::Kind;
use super::super::model::{Annotations, Requiredness, StructKind};
use super::{Parsed, Parser, RESERVED};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn typedef(&mut self) -> Parsed<Typedef> {
        let docs = self.docs_here();
        self.at += 1;
        let target = self.type_expr()?;
        let name = self.type_name("a name for the type")?;
        Ok(Typedef { head: self.finish(name, docs)?, target })
    }

    pub(super) fn constant(&mut self) -> Parsed<Const> {
        let docs = self.docs_here();
        self.at += 1;
        let ty = self.type_expr()?;
        let name = self.simple_name("a name for the constant")?;
        self.expect(b'=', "and the value of the constant")?;
        let value = self.expr()?;
        Ok(Const { head: self.finish(name, docs)?, ty, value })
    }

    pub(super) fn enumeration(&mut self) -> Parsed<Enum> {
        let docs = self.docs_here();
        self.at += 1;
        let name = self.type_name("a name for the enum")?;
        let open = self.expect(b'{', "and the values of the enum")?;
        let values = self.members(open, b'}', &format!("enum `{}`", name.text), Self::enum_value);
        Ok(Enum { head: self.finish(name, docs)?, values })
    }

    fn enum_value(&mut self) -> Parsed<EnumValue> {
        let docs = self.docs_here();
        let name = self.simple_name("the name of a value")?;
        let mut number = None;
        if self.eat_symbol(b'=') {
            let token = self.peek();
            let Kind::Int(value) = token.kind else { return self.unexpected("an integer") };
            self.at += 1;
            number = Some((value, token.span));
        }
        Ok(EnumValue { head: self.finish(name, docs)?, number })
    }

    pub(super) fn structure(&mut self) -> Parsed<Struct> {
        let docs = self.docs_here();
        let word = self.text_of(self.peek().span);
        // a misspelt keyword was reported, and is a struct more often than not
        let kind = match word {
            "union" => StructKind::Union,
            "exception" => StructKind::Exception,
            _ => StructKind::Struct,
        };
        self.at += 1;
        let name = self.type_name(&format!("a name for the {}", kind.keyword()))?;
        if self.at_word("xsd_all") {
            self.xsd()?;
        }
        let open = self.expect(b'{', &format!("and the fields of the {}", kind.keyword()))?;
        let fields = self.members(open, b'}', &format!("{} `{}`", kind.keyword(), name.text), Self::field);
        Ok(Struct { head: self.finish(name, docs)?, kind, fields })
    }

    fn field(&mut self) -> Parsed<Field> {
        let docs = self.docs_here();
        let id = self.field_id()?;
        let token = self.peek();
        let requiredness = if self.eat_word("required") {
            Requiredness::Required
        } else if self.eat_word("optional") {
            Requiredness::Optional
        } else {
            Requiredness::Default
        };
        let requiredness_span = (requiredness != Requiredness::Default).then_some(token.span);
        let ty = self.type_expr()?;
        // asks C++ for a shared pointer; boxes are found without it
        self.eat_symbol(b'&');
        let name = self.simple_name("the name of the field")?;
        let default = if self.eat_symbol(b'=') { Some(self.expr()?) } else { None };
        if ["xsd_optional", "xsd_nillable", "xsd_attrs"].into_iter().any(|word| self.at_word(word)) {
            self.xsd()?;
        }
        Ok(Field { head: self.finish(name, docs)?, id, requiredness, requiredness_span, ty, default })
    }

    fn field_id(&mut self) -> Parsed<Option<(i64, Span)>> {
        let token = self.peek();
        let Kind::Int(id) = token.kind else { return Ok(None) };
        self.at += 1;
        self.expect(b':', "behind the id of a field")?;
        Ok(Some((id, token.span)))
    }

    fn xsd(&mut self) -> Parsed<()> {
        let token = self.peek();
        let word = self.text_of(token.span);
        self.fail(
            token.span,
            &format!("`{word}` is not supported"),
            "it only concerns XML schemas; remove it",
        )
    }

    pub(super) fn service(&mut self) -> Parsed<Service> {
        let docs = self.docs_here();
        self.at += 1;
        let name = self.type_name("a name for the service")?;
        let parent = if self.eat_word("extends") {
            Some(self.dotted_name("the service that it extends")?)
        } else {
            None
        };
        let open = self.expect(b'{', "and the methods of the service")?;
        let methods = self.members(open, b'}', &format!("service `{}`", name.text), Self::method);
        Ok(Service { head: self.finish(name, docs)?, parent, methods })
    }

    fn method(&mut self) -> Parsed<Method> {
        let docs = self.docs_here();
        let token = self.peek();
        let oneway = if self.eat_word("oneway") {
            Some(token.span)
        } else if self.at_word("async") && self.peek_at(1).kind == Kind::Word {
            self.at += 1;
            self.found.push(
                Diagnostic::warning(token.span, "`async` is an old name of `oneway`").help("write `oneway`"),
            );
            Some(token.span)
        } else {
            None
        };
        let returns = if self.eat_word("void") { None } else { Some(self.type_expr()?) };
        let name = self.simple_name("the name of the method")?;
        let open = self.expect(b'(', "and the arguments of the method")?;
        let args = self.members(open, b')', &format!("the arguments of `{}`", name.text), Self::field);
        let mut throws = Vec::new();
        if self.eat_word("throws") {
            let open = self.expect(b'(', "and the exceptions")?;
            throws = self.members(open, b')', &format!("the exceptions of `{}`", name.text), Self::field);
        }
        Ok(Method { head: self.finish(name, docs)?, oneway, returns, args, throws })
    }

    /// The name of a type or service: no keyword.
    fn type_name(&mut self, what: &str) -> Parsed<Name> {
        let name = self.simple_name(what)?;
        if RESERVED.contains(&name.text.as_str()) {
            self.found.push(
                Diagnostic::error(
                    name.span,
                    format!("`{}` is a keyword and can not name a definition", name.text),
                )
                .help("choose another name; members may be named like keywords"),
            );
        }
        Ok(name)
    }

    /// What ends every definition and member: annotations, then separators.
    fn finish(&mut self, name: Name, docs: Option<String>) -> Parsed<Head> {
        let annotations: Annotations = self.annotations()?;
        self.separators();
        Ok(Head { name, docs, annotations })
    }
}
