//! Fourth pass: constants and defaults, each against the type it has to be of.

use super::super::ast::{Expr, ExprKind};
use super::super::model::{
    ConstId, Definition, Enum, MAX_VALUE_DEPTH, MAX_VALUE_NODES, ModuleId, Requiredness, Struct, StructKind,
    Type, TypeId, TypeKind, Value,
};
use super::{DefaultOf, Resolver};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::closest;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How many constants may refer to each other before their declaration, in a row.
const MAX_FORWARD: usize = 64;

type Defaults = Vec<(DefaultOf, Value)>;

/// The values of all constants, in order, and of all defaults. What is `None` was reported.
pub(super) fn check_all(resolver: &Resolver<'_>) -> (Vec<Option<Value>>, Defaults, Vec<Diagnostic>) {
    let mut slots = Vec::new();
    slots.resize_with(resolver.constants.len(), || Slot::Waiting);
    let with_default =
        resolver.defaults.iter().filter_map(|(owner, ..)| Some(resolver.field(*owner)?.head.span));
    let mut checker = Checker {
        resolver,
        slots,
        forward: 0,
        with_default: with_default.collect(),
        budget: MAX_VALUE_NODES,
        found: Vec::new(),
    };
    for index in 0..resolver.constants.len() {
        checker.constant(ConstId::new(index));
    }
    let defaults = resolver
        .defaults
        .iter()
        .filter_map(|(owner, module, source)| {
            let ty = &resolver.field(*owner)?.ty;
            Some((*owner, checker.check(*module, source, ty, 0)?))
        })
        .collect();
    let Checker { slots, found, .. } = checker;
    let constants = slots
        .into_iter()
        .map(|slot| match slot {
            Slot::Done(value) => Some(Rc::unwrap_or_clone(value)),
            _ => None,
        })
        .collect();
    (constants, defaults, found)
}

enum Slot {
    Waiting,
    /// Its value is being worked out: a reference to it is a cycle.
    Busy,
    Failed,
    Done(Rc<Value>),
}

struct Checker<'r, 'a> {
    resolver: &'r Resolver<'a>,
    slots: Vec<Slot>,
    forward: usize,
    /// Fields for which a default is written; the model does not have them yet.
    with_default: HashSet<Span>,
    /// Parts that may still be made. References are expanded, and that could grow without end.
    budget: usize,
    found: Vec<Diagnostic>,
}

impl<'r> Checker<'r, '_> {
    fn constant(&mut self, id: ConstId) -> Option<Rc<Value>> {
        let resolver = self.resolver;
        let constant = &resolver.constants[id.index()];
        match &self.slots[id.index()] {
            Slot::Done(value) => return Some(Rc::clone(value)),
            Slot::Failed => return None,
            Slot::Busy => {
                return self.error(
                    constant.source.head.name.span,
                    "this constant refers to itself",
                    |found| found.help("write a value at one place of the circle"),
                );
            }
            Slot::Waiting => {}
        }
        let ty = constant.ty.as_ref();
        if self.forward >= MAX_FORWARD {
            self.slots[id.index()] = Slot::Failed;
            return self.error(
                constant.source.head.name.span,
                "too many constants refer to later ones in a row",
                |found| found.help("declare constants before they are used"),
            );
        }
        self.slots[id.index()] = Slot::Busy;
        self.forward += 1;
        let value = ty.and_then(|ty| self.check(constant.module, &constant.source.value, ty, 0)).map(Rc::new);
        self.forward -= 1;
        self.slots[id.index()] = value.clone().map_or(Slot::Failed, Slot::Done);
        value
    }

    /// A written value as one of a type.
    fn check(&mut self, module: ModuleId, source: &Expr, ty: &'r Type, depth: usize) -> Option<Value> {
        let at = source.span;
        self.spend(at, depth)?;
        let model = &self.resolver.model;
        if self.resolver.is_refused(ty) {
            return None;
        }
        match (&source.kind, &model.resolve(ty).kind) {
            (ExprKind::Name(name), _) => self.named(module, name, at, ty, depth),
            (ExprKind::Bool(value), TypeKind::Bool) => Some(Value::Bool(*value)),
            (ExprKind::Bool(value), TypeKind::I8 | TypeKind::I16 | TypeKind::I32 | TypeKind::I64) => {
                let number = i64::from(*value);
                self.found.push(
                    Diagnostic::warning(at, format!("`{value}` stands for {number} here"))
                        .help(format!("write {number}")),
                );
                Some(Value::Int(number))
            }
            (ExprKind::Int(value), _) => self.integer(*value, at, ty),
            (ExprKind::Double(value), TypeKind::Double) => Some(Value::Double(*value)),
            (ExprKind::Literal(value), _) => self.literal(value, at, ty),
            (ExprKind::List(values), TypeKind::List(element)) => {
                Some(Value::List(self.elements(module, values, element, depth)?))
            }
            (ExprKind::List(values), TypeKind::Set(element)) => {
                Some(Value::Set(self.elements(module, values, element, depth)?))
            }
            // Apache's compiler takes any brackets if they are empty
            (ExprKind::Map(entries), TypeKind::List(_)) if entries.is_empty() => {
                Some(Value::List(Vec::new()))
            }
            (ExprKind::Map(entries), TypeKind::Set(_)) if entries.is_empty() => Some(Value::Set(Vec::new())),
            (ExprKind::List(values), TypeKind::Map(..)) if values.is_empty() => Some(Value::Map(Vec::new())),
            (ExprKind::Map(entries), TypeKind::Map(key, value)) => {
                let mut pairs = Some(Vec::with_capacity(entries.len()));
                for (key_source, value_source) in entries {
                    let key = self.check(module, key_source, key, depth + 1);
                    let value = self.check(module, value_source, value, depth + 1);
                    keep(&mut pairs, key.zip(value));
                }
                Some(Value::Map(pairs?))
            }
            (ExprKind::Map(entries), TypeKind::Named(_)) if model.as_struct(ty).is_some() => {
                let (id, definition) = model.as_struct(ty)?;
                self.fields(module, entries, at, id, definition, depth)
            }
            (found, _) => self.mismatch(at, describe(found), ty),
        }
    }

    fn elements(
        &mut self,
        module: ModuleId,
        values: &[Expr],
        ty: &'r Type,
        depth: usize,
    ) -> Option<Vec<Value>> {
        let mut elements = Some(Vec::with_capacity(values.len()));
        for value in values {
            let element = self.check(module, value, ty, depth + 1);
            keep(&mut elements, element);
        }
        elements
    }

    fn integer(&mut self, value: i64, at: Span, ty: &Type) -> Option<Value> {
        let (min, max) = match &self.resolver.model.resolve(ty).kind {
            TypeKind::I8 => (i8::MIN.into(), i8::MAX.into()),
            TypeKind::I16 => (i16::MIN.into(), i16::MAX.into()),
            TypeKind::I32 => (i32::MIN.into(), i32::MAX.into()),
            TypeKind::I64 => (i64::MIN, i64::MAX),
            TypeKind::Double => return Some(Value::Double(value as f64)),
            TypeKind::Bool => {
                return match value {
                    0 => Some(Value::Bool(false)),
                    1 => Some(Value::Bool(true)),
                    _ => self.error(at, format!("{value} is no `bool`"), |found| {
                        found.help("write `true` or `false`; 1 and 0 mean the same")
                    }),
                };
            }
            _ => match self.resolver.model.as_enum(ty) {
                Some((id, values)) => return self.enum_number(value, at, id, values),
                None => return self.mismatch(at, "an integer", ty),
            },
        };
        if (min..=max).contains(&value) {
            return Some(Value::Int(value));
        }
        let shown = self.resolver.show(self.resolver.model.resolve(ty));
        self.error(at, format!("{value} does not fit `{shown}`"), |found| {
            found.label("out of range").help(format!("`{shown}` ranges from {min} to {max}"))
        })
    }

    fn enum_number(&mut self, number: i64, at: Span, id: TypeId, values: &Enum) -> Option<Value> {
        if let Some(position) = values.values.iter().position(|value| i64::from(value.number) == number) {
            return Some(Value::Enum(id, position));
        }
        let head = &self.resolver.model.type_def(id).head;
        let (name, declared) = (&head.name, head.span);
        self.error(at, format!("{number} is no value of the enum `{name}`"), |found| {
            found
                .also(declared, "declared here")
                .help("add a value with this number, or choose one of its values")
        })
    }

    fn literal(&mut self, text: &str, at: Span, ty: &Type) -> Option<Value> {
        match &self.resolver.model.resolve(ty).kind {
            TypeKind::String => Some(Value::String(text.to_owned())),
            TypeKind::Binary => Some(Value::Binary(text.as_bytes().to_vec())),
            TypeKind::Uuid => match parse_uuid(text) {
                Some(value) => Some(Value::Uuid(value)),
                None => self.error(at, "this is no UUID", |found| {
                    found.help("write 32 hexadecimal digits, in groups of 8-4-4-4-12")
                }),
            },
            _ => self.mismatch(at, "a string", ty),
        }
    }

    /// The value of a struct, an exception or a union.
    fn fields(
        &mut self,
        module: ModuleId,
        entries: &[(Expr, Expr)],
        at: Span,
        id: TypeId,
        definition: &'r Struct,
        depth: usize,
    ) -> Option<Value> {
        let owner = &self.resolver.model.type_def(id).head.name;
        let is_unsure = self.resolver.unsure.contains(&id);
        let mut values = Some(Vec::with_capacity(entries.len()));
        let mut given: HashMap<usize, Span> = HashMap::new();
        for (key, value) in entries {
            let ExprKind::Literal(name) = &key.kind else {
                values =
                    self.error(key.span, format!("expected the name of a field of `{owner}`"), |found| {
                        found.help("write it in quotes")
                    });
                continue;
            };
            let Some(position) = definition.fields.iter().position(|field| field.head.name == *name) else {
                if !is_unsure {
                    let meant = closest(name, definition.fields.iter().map(|field| field.head.name.as_str()));
                    self.error::<()>(key.span, format!("`{owner}` has no field `{name}`"), |found| {
                        found.maybe_help(meant.map(|meant| format!("did you mean `{meant}`?")))
                    });
                }
                values = None;
                continue;
            };
            match given.entry(position) {
                Entry::Occupied(first) => {
                    let first = *first.get();
                    values = self.error(key.span, format!("the field `{name}` is given twice"), |found| {
                        found.also(first, "given here first")
                    });
                    continue;
                }
                Entry::Vacant(entry) => {
                    entry.insert(key.span);
                }
            }
            let value = self.check(module, value, &definition.fields[position].ty, depth + 1);
            keep(&mut values, value.map(|value| (position, value)));
        }
        let values = values?;
        if definition.kind == StructKind::Union {
            if values.len() != 1 {
                let count = values.len();
                return self.error(at, format!("a union holds one field, not {count}"), |found| {
                    found.help(format!("give one field of `{owner}`"))
                });
            }
        } else if !is_unsure {
            self.warn_of_missing(at, owner, definition, &given);
        }
        Some(Value::Struct(id, values))
    }

    fn warn_of_missing(&mut self, at: Span, owner: &str, definition: &Struct, given: &HashMap<usize, Span>) {
        let missing = definition.fields.iter().enumerate().find(|(position, field)| {
            field.requiredness == Requiredness::Required
                && !given.contains_key(position)
                && !self.with_default.contains(&field.head.span)
        });
        if let Some((_, field)) = missing {
            self.found.push(
                Diagnostic::warning(
                    at,
                    format!("the required field `{}` of `{owner}` is missing", field.head.name),
                )
                .help("it takes the default of its type"),
            );
        }
    }

    /// A name: a value of the enum that is wanted, a value of any enum as a number, or another constant.
    fn named(&mut self, module: ModuleId, name: &str, at: Span, ty: &'r Type, depth: usize) -> Option<Value> {
        let resolver = self.resolver;
        let wanted = resolver.model.as_enum(ty);
        let value_of_wanted = |name: &str| {
            let (id, values) = wanted?;
            let position = values.values.iter().position(|value| value.head.name == name)?;
            Some((id, position))
        };
        if let Some((id, position)) = value_of_wanted(name) {
            return Some(Value::Enum(id, position));
        }
        let value = resolver.enum_value_named(module, name);
        if let Some((id, position)) = value
            && wanted.is_none_or(|(wanted, _)| wanted == id)
        {
            return self.convert(&Value::Enum(id, position), at, ty, depth);
        }
        if let Some(id) = resolver.constant_named(module, name) {
            let value = self.constant(id)?;
            return self.convert(&value, at, ty, depth);
        }
        // Apache's compiler only looks at what follows the last dot
        if let Some((_, last)) = name.rsplit_once('.')
            && let Some((id, position)) = value_of_wanted(last)
        {
            let owner = &resolver.model.type_def(id).head.name;
            self.found.push(
                Diagnostic::warning(at, format!("`{name}` is taken for the value `{last}` of `{owner}`"))
                    .help(format!("write `{last}`")),
            );
            return Some(Value::Enum(id, position));
        }
        if let Some((id, position)) = value {
            // of another enum, which is an error
            return self.convert(&Value::Enum(id, position), at, ty, depth);
        }
        if resolver.is_of_missing_file(module, name) {
            return None;
        }
        let help = resolver.unknown_constant(module, name, ty);
        let what = if wanted.is_some() { "enum value or constant" } else { "constant" };
        self.error(at, format!("unknown {what} `{name}`"), |found| {
            found.label("neither in this file nor in one that it includes").maybe_help(help)
        })
    }

    /// The value of a constant, or of an enum, where another type may be wanted.
    fn convert(&mut self, value: &Value, at: Span, ty: &'r Type, depth: usize) -> Option<Value> {
        self.spend(at, depth)?;
        let model = &self.resolver.model;
        match (value, &model.resolve(ty).kind) {
            (Value::Bool(_), TypeKind::Bool)
            | (Value::Double(_), TypeKind::Double)
            | (Value::String(_), TypeKind::String)
            | (Value::Binary(_), TypeKind::Binary)
            | (Value::Uuid(_), TypeKind::Uuid) => Some(value.clone()),
            (Value::Bool(value), TypeKind::I8 | TypeKind::I16 | TypeKind::I32 | TypeKind::I64) => {
                Some(Value::Int((*value).into()))
            }
            (Value::Int(value), _) => self.integer(*value, at, ty),
            (Value::String(text), TypeKind::Binary | TypeKind::Uuid) => self.literal(text, at, ty),
            (Value::Binary(bytes), TypeKind::String) => {
                Some(Value::String(String::from_utf8(bytes.clone()).ok()?))
            }
            (Value::Enum(id, position), kind) => match kind {
                TypeKind::Named(wanted) if wanted == id => Some(value.clone()),
                TypeKind::I8 | TypeKind::I16 | TypeKind::I32 | TypeKind::I64 => {
                    let Definition::Enum(values) = &model.type_def(*id).definition else { return None };
                    self.integer(values.values.get(*position)?.number.into(), at, ty)
                }
                _ => {
                    let found = format!("a value of the enum `{}`", model.type_def(*id).head.name);
                    self.mismatch(at, &found, ty)
                }
            },
            (Value::List(values), TypeKind::List(element)) => {
                Some(Value::List(self.convert_all(values, at, element, depth)?))
            }
            (Value::Set(values), TypeKind::Set(element)) => {
                Some(Value::Set(self.convert_all(values, at, element, depth)?))
            }
            (Value::Map(pairs), TypeKind::Map(key_type, value_type)) => {
                let mut converted = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let key = self.convert(key, at, key_type, depth + 1)?;
                    converted.push((key, self.convert(value, at, value_type, depth + 1)?));
                }
                Some(Value::Map(converted))
            }
            (Value::Struct(id, fields), TypeKind::Named(wanted)) if id == wanted => {
                let Definition::Struct(definition) = &model.type_def(*id).definition else { return None };
                let mut converted = Vec::with_capacity(fields.len());
                for (position, value) in fields {
                    let ty = &definition.fields.get(*position)?.ty;
                    converted.push((*position, self.convert(value, at, ty, depth + 1)?));
                }
                Some(Value::Struct(*id, converted))
            }
            (found, _) => self.mismatch(at, describe_value(found), ty),
        }
    }

    fn convert_all(&mut self, values: &[Value], at: Span, ty: &'r Type, depth: usize) -> Option<Vec<Value>> {
        values.iter().map(|value| self.convert(value, at, ty, depth + 1)).collect()
    }

    /// Counts one part of a value.
    fn spend(&mut self, at: Span, depth: usize) -> Option<()> {
        if depth >= MAX_VALUE_DEPTH {
            return self.error(
                at,
                "this constant is nested too deeply when all names are expanded",
                |found| found.help(format!("at most {MAX_VALUE_DEPTH} levels are allowed")),
            );
        }
        if self.budget == 1 {
            self.error::<()>(at, "constants are too large when all names are expanded", |found| {
                found.help(format!("at most {MAX_VALUE_NODES} parts are allowed in all files together"))
            });
        }
        self.budget = self.budget.saturating_sub(1);
        (self.budget > 0).then_some(())
    }

    fn mismatch<T>(&mut self, at: Span, what: &str, ty: &Type) -> Option<T> {
        let model = &self.resolver.model;
        let shown = self.resolver.show(ty);
        let hint = match &model.resolve(ty).kind {
            TypeKind::String | TypeKind::Binary | TypeKind::Uuid => Some("write it in quotes"),
            TypeKind::List(_) | TypeKind::Set(_) => Some("lists and sets are written `[a, b]`"),
            TypeKind::Map(..) => Some("maps are written `{key: value}`"),
            TypeKind::Named(_) if model.as_struct(ty).is_some() => {
                Some("structs are written `{\"field\": value}`")
            }
            TypeKind::Named(_) => Some("name one of the values of the enum"),
            TypeKind::Double => Some("write a number"),
            TypeKind::Bool => Some("write `true` or `false`"),
            _ => Some("write an integer"),
        };
        self.error(at, format!("expected a value of type `{shown}`, found {what}"), |found| {
            found.label(format!("not of type `{shown}`")).maybe_help(hint.map(str::to_owned))
        })
    }

    fn error<T>(
        &mut self,
        at: Span,
        message: impl Into<String>,
        more: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Option<T> {
        self.found.push(more(Diagnostic::error(at, message)));
        None
    }
}

/// Adds a part to a whole, which is lost if any part is.
fn keep<T>(whole: &mut Option<Vec<T>>, part: Option<T>) {
    match (whole.as_mut(), part) {
        (Some(whole), Some(part)) => whole.push(part),
        _ => *whole = None,
    }
}

fn describe(source: &ExprKind) -> &'static str {
    match source {
        ExprKind::Bool(_) => "a bool",
        ExprKind::Int(_) => "an integer",
        ExprKind::Double(_) => "a double",
        ExprKind::Literal(_) => "a string",
        ExprKind::Name(_) => "a name",
        ExprKind::List(_) => "a list",
        ExprKind::Map(_) => "a map",
    }
}

fn describe_value(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "a bool",
        Value::Int(_) => "an integer",
        Value::Double(_) => "a double",
        Value::String(_) => "a string",
        Value::Binary(_) => "a binary",
        Value::Uuid(_) => "a uuid",
        Value::Enum(..) => "an enum value",
        Value::List(_) => "a list",
        Value::Set(_) => "a set",
        Value::Map(_) => "a map",
        Value::Struct(..) => "a struct",
    }
}

/// 8-4-4-4-12 hexadecimal digits, possibly in braces.
fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    if lengths != [8, 4, 4, 4, 12] || !text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(&groups.concat(), 16).ok().map(u128::to_be_bytes)
}
