//! What a file says, before any name is looked up.

use super::model::{Annotations, Requiredness, StructKind};
use crate::source::Span;

#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) docs: Option<String>,
    pub(crate) namespaces: Vec<Namespace>,
    pub(crate) includes: Vec<Include>,
    pub(crate) items: Vec<Item>,
}

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Namespace {
    /// A language, dotted for variants of one, or `*` for all.
    pub(crate) scope: Name,
    pub(crate) value: Name,
    pub(crate) annotations: Annotations,
}

#[derive(Debug)]
pub(crate) struct Include {
    pub(crate) path: String,
    pub(crate) span: Span,
}

/// What every named thing carries.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) name: Name,
    pub(crate) docs: Option<String>,
    pub(crate) annotations: Annotations,
}

#[derive(Debug)]
pub(crate) enum Item {
    Typedef(Typedef),
    Enum(Enum),
    Struct(Struct),
    Const(Const),
    Service(Service),
}

#[derive(Debug)]
pub(crate) struct Typedef {
    pub(crate) head: Head,
    pub(crate) target: TypeExpr,
}

#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) head: Head,
    pub(crate) values: Vec<EnumValue>,
}

#[derive(Debug)]
pub(crate) struct EnumValue {
    pub(crate) head: Head,
    pub(crate) number: Option<(i64, Span)>,
}

/// A struct, a union or an exception.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) head: Head,
    pub(crate) kind: StructKind,
    pub(crate) fields: Vec<Field>,
}

/// A field, an argument or a declared exception.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) head: Head,
    pub(crate) id: Option<(i64, Span)>,
    pub(crate) requiredness: Requiredness,
    /// Where `required` or `optional` stands.
    pub(crate) requiredness_span: Option<Span>,
    pub(crate) ty: TypeExpr,
    pub(crate) default: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct Const {
    pub(crate) head: Head,
    pub(crate) ty: TypeExpr,
    pub(crate) value: Expr,
}

#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) head: Head,
    pub(crate) parent: Option<Name>,
    pub(crate) methods: Vec<Method>,
}

#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) head: Head,
    pub(crate) oneway: Option<Span>,
    /// `None` for `void`.
    pub(crate) returns: Option<TypeExpr>,
    pub(crate) args: Vec<Field>,
    pub(crate) throws: Vec<Field>,
}

/// A type as written.
#[derive(Debug)]
pub(crate) struct TypeExpr {
    pub(crate) kind: TypeExprKind,
    pub(crate) annotations: Annotations,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum TypeExprKind {
    Base(Base),
    Named(String),
    List(Box<TypeExpr>),
    Set(Box<TypeExpr>),
    Map(Box<TypeExpr>, Box<TypeExpr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    String,
    Binary,
    Uuid,
}

impl Base {
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "bool" => Self::Bool,
            "byte" | "i8" => Self::I8,
            "i16" => Self::I16,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "double" => Self::Double,
            "string" | "slist" => Self::String,
            "binary" => Self::Binary,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }
}

/// A constant as written.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Bool(bool),
    Int(i64),
    Double(f64),
    Literal(String),
    Name(String),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
}
