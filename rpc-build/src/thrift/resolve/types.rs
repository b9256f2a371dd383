//! Second pass: typedefs, structs, and the rules of field ids.

use super::super::ast::{self, Base, TypeExpr, TypeExprKind};
use super::super::graph::{components, cycles};
use super::super::model::{
    Definition, Field, MAX_TYPE_DEPTH, MAX_TYPE_NODES, ModuleId, Requiredness, StructKind, Type, TypeId,
    TypeKind,
};
use super::declare::{Declared, twice};
use super::{DefaultOf, Resolver, TypeSource, head};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What a list of fields belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Struct(StructKind),
    Arguments,
    Exceptions,
}

/// Fields that could be resolved, each with its default as written, and whether any could not.
pub(super) struct Fields<'a> {
    pub(super) fields: Vec<Field>,
    pub(super) defaults: Vec<(usize, &'a ast::Expr)>,
    pub(super) complete: bool,
}

impl<'a> Resolver<'a> {
    pub(super) fn resolve_types(&mut self) {
        for index in 0..self.types.len() {
            if let TypeSource::Typedef(source) = self.types[index] {
                let id = TypeId::new(index);
                match self.type_of(self.model.type_def(id).module, &source.target) {
                    Some(target) => self.model.types[index].definition = Definition::Typedef(target),
                    None => {
                        self.unsure.insert(id);
                    }
                }
            }
        }
        self.refuse_endless_typedefs();
        for index in 0..self.types.len() {
            if let TypeSource::Struct(source) = self.types[index] {
                self.resolve_struct(TypeId::new(index), source);
            }
        }
    }

    fn resolve_struct(&mut self, id: TypeId, source: &'a ast::Struct) {
        let module = self.model.type_def(id).module;
        let resolved = self.fields(module, &source.fields, Place::Struct(source.kind));
        if !resolved.complete {
            self.unsure.insert(id);
        }
        if source.kind == StructKind::Union {
            let mut defaults = source.fields.iter().filter(|field| field.default.is_some());
            if let (Some(first), Some(second)) = (defaults.next(), defaults.next()) {
                self.found.push(
                    Diagnostic::error(second.head.name.span, "a union can have only one default")
                        .also(first.head.name.span, "this field has one already")
                        .help("remove one of the values"),
                );
            }
        }
        for (field, value) in resolved.defaults {
            self.defaults.push((DefaultOf::Field(id, field), module, value));
        }
        if let Definition::Struct(fields) = &mut self.model.types[id.index()].definition {
            fields.fields = resolved.fields;
        }
    }

    /// A type as used in a module. `None` if it was reported.
    pub(super) fn type_of(&mut self, module: ModuleId, source: &TypeExpr) -> Option<Type> {
        let ty = self.type_as_written(module, source)?;
        if let Some(sizes) = &self.sizes
            && is_too_large(measure(&ty, sizes))
        {
            self.found.push(too_large(source.span));
            return None;
        }
        Some(ty)
    }

    fn type_as_written(&mut self, module: ModuleId, source: &TypeExpr) -> Option<Type> {
        let kind = match &source.kind {
            TypeExprKind::Base(base) => base_type(*base),
            TypeExprKind::List(element) => TypeKind::List(Box::new(self.type_as_written(module, element)?)),
            TypeExprKind::Set(element) => TypeKind::Set(Box::new(self.type_as_written(module, element)?)),
            TypeExprKind::Map(key, value) => {
                // both are looked at, so that both are reported
                let (key, value) = (self.type_as_written(module, key), self.type_as_written(module, value));
                TypeKind::Map(Box::new(key?), Box::new(value?))
            }
            TypeExprKind::Named(name) => match self.declared(module, name, source.span, "type")? {
                Declared::Type(id) => TypeKind::Named(id),
                service @ Declared::Service(_) => {
                    self.found.push(
                        Diagnostic::error(source.span, format!("`{name}` is a service, not a type"))
                            .also(self.span_of(service), "declared here")
                            .help("services can not be passed or returned; they can only be extended"),
                    );
                    return None;
                }
            },
        };
        Some(Type { kind, annotations: source.annotations.clone() })
    }

    /// Typedefs that lead back to themselves, or to types that are too large to walk. Such a typedef is replaced by a
    /// harmless type, so that everything after this pass may follow typedefs.
    fn refuse_endless_typedefs(&mut self) {
        let edges: Vec<Vec<usize>> = self
            .model
            .types
            .iter()
            .map(|found| match &found.definition {
                Definition::Typedef(target) => named_in(target).into_iter().map(TypeId::index).collect(),
                _ => Vec::new(),
            })
            .collect();
        for chain in cycles(&edges) {
            let name = |index: usize| format!("`{}`", self.model.types[index].head.name);
            let names: Vec<String> = chain.iter().chain(chain.first()).map(|index| name(*index)).collect();
            let first = self.model.types[chain[0]].head.span;
            let mut diagnostic = Diagnostic::error(
                first,
                format!("this typedef leads back to itself: {}", names.join(" → ")),
            )
            .help(
                "it has to end at a base type, an enum or a struct; only these last may contain themselves",
            );
            for index in &chain[1..] {
                diagnostic = diagnostic.also(self.model.types[*index].head.span, "by way of this");
            }
            self.found.push(diagnostic);
        }
        let component = components(&edges);
        let mut members = vec![0usize; edges.len()];
        for &number in &component {
            members[number] += 1;
        }
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by_key(|index| component[*index]);
        // what a type measures as part of another: depth, nodes
        let mut sizes = vec![(1usize, 1usize); edges.len()];
        for index in order {
            let cyclic = members[component[index]] > 1 || edges[index].contains(&index);
            if let Definition::Typedef(target) = &self.model.types[index].definition
                && !cyclic
            {
                sizes[index] = measure(target, &sizes);
            }
            let large = is_too_large(sizes[index]);
            if large {
                self.found.push(too_large(self.model.types[index].head.span));
            }
            if large || cyclic {
                let nothing = Type { kind: TypeKind::Bool, annotations: Default::default() };
                self.model.types[index].definition = Definition::Typedef(nothing);
                self.unsure.insert(TypeId::new(index));
                sizes[index] = (1, 1);
            }
        }
        self.sizes = Some(sizes);
    }

    /// Resolves a list of fields, and checks ids and names.
    pub(super) fn fields(&mut self, module: ModuleId, sources: &'a [ast::Field], place: Place) -> Fields<'a> {
        let mut result = Fields { fields: Vec::new(), defaults: Vec::new(), complete: true };
        let (mut ids, mut names) = (HashMap::new(), HashMap::new());
        let mut next_implicit = -1;
        self.warn_of_missing_ids(sources, place);
        for source in sources {
            let name = &source.head.name;
            let id = self.field_id(source, &mut next_implicit);
            let ty = self.type_of(module, &source.ty);
            let requiredness = self.requiredness(source, place);
            let mut unique = true;
            if let Some(first) = names.insert(name.text.as_str(), name.span) {
                self.found.push(twice("field", &name.text, name.span, first));
                unique = false;
            }
            if let Some(id) = id {
                match ids.entry(id) {
                    Entry::Occupied(first) => {
                        let first: &&ast::Name = first.get();
                        let at = source.id.map_or(name.span, |(_, span)| span);
                        self.found.push(
                            Diagnostic::error(at, format!("the id {id} of `{}` is taken", name.text))
                                .also(first.span, "by this field")
                                .help("give one of them another id"),
                        );
                        unique = false;
                    }
                    Entry::Vacant(entry) => {
                        entry.insert(name);
                    }
                }
            }
            let (Some(id), Some(ty), true) = (id, ty, unique) else {
                result.complete = false;
                continue;
            };
            if let Some(default) = &source.default {
                if place == Place::Exceptions {
                    self.found.push(
                        Diagnostic::warning(default.span, "a declared exception has no default")
                            .help("remove the value"),
                    );
                } else {
                    result.defaults.push((result.fields.len(), default));
                }
            }
            result.fields.push(Field {
                head: head(&source.head),
                id,
                explicit_id: source.id.is_some(),
                ty,
                requiredness,
                default: None,
                boxed: false,
            });
        }
        result
    }

    fn warn_of_missing_ids(&mut self, sources: &[ast::Field], place: Place) {
        let mut missing = sources.iter().filter(|field| field.id.is_none());
        let Some(first) = missing.next() else { return };
        let what = match place {
            Place::Struct(_) => "field",
            Place::Arguments => "argument",
            Place::Exceptions => "exception",
        };
        let name = &first.head.name;
        let (subject, others) = match missing.count() {
            0 => (format!("the {what} `{}` has no id", name.text), ""),
            more => (format!("the {what} `{}` and {more} more have no id", name.text), " and so on down"),
        };
        self.found.push(
            Diagnostic::warning(name.span, subject)
                .label(format!("counted from -1{others}"))
                .help("write an id before each: without, adding one changes those of all that follow"),
        );
    }

    /// The id as written, or the next below zero.
    fn field_id(&mut self, source: &ast::Field, next_implicit: &mut i64) -> Option<i16> {
        let name = &source.head.name;
        let (id, at) = source.id.unwrap_or((*next_implicit, name.span));
        if id == 0 {
            self.found.push(
                Diagnostic::error(at, "0 can not be the id of a field")
                    .label("ids begin at 1")
                    .help("0 is the id of a method's result"),
            );
            return None;
        }
        let Ok(exact) = i16::try_from(id) else {
            self.found.push(
                Diagnostic::error(at, format!("the id {id} does not fit 16 bits"))
                    .label("too large")
                    .help(format!("ids range from 1 to {}", i16::MAX)),
            );
            return None;
        };
        if id < 0 {
            if id != *next_implicit {
                self.found.push(
                    Diagnostic::warning(
                        at,
                        format!("the negative id {id} is not {next_implicit}, to which ids count down here"),
                    )
                    .help("Apache's compiler counts unless told otherwise; choose a positive id"),
                );
            }
            *next_implicit = id - 1;
        }
        Some(exact)
    }

    fn requiredness(&mut self, source: &ast::Field, place: Place) -> Requiredness {
        let at: Span = source.requiredness_span.unwrap_or(source.head.name.span);
        match (place, source.requiredness) {
            (Place::Struct(StructKind::Union), written) => {
                if written == Requiredness::Required {
                    self.found.push(
                        Diagnostic::warning(at, "the fields of a union are optional")
                            .help("remove `required`"),
                    );
                }
                Requiredness::Optional
            }
            (Place::Arguments, Requiredness::Optional) => {
                self.found.push(
                    Diagnostic::warning(at, "an argument can not be optional")
                        .help("remove `optional`, or pass a struct with an optional field"),
                );
                Requiredness::Default
            }
            (Place::Exceptions, _) => Requiredness::Default,
            (_, written) => written,
        }
    }
}

/// All named types in a type, typedefs not expanded.
pub(super) fn named_in(ty: &Type) -> Vec<TypeId> {
    match &ty.kind {
        TypeKind::Named(id) => vec![*id],
        kind => kind.parts().flat_map(named_in).collect(),
    }
}

fn is_too_large((depth, nodes): (usize, usize)) -> bool {
    depth > MAX_TYPE_DEPTH || nodes > MAX_TYPE_NODES
}

fn too_large(at: Span) -> Diagnostic {
    Diagnostic::error(at, "this type is too large when all typedefs are expanded").help(format!(
        "at most {MAX_TYPE_DEPTH} levels and {MAX_TYPE_NODES} parts; make a struct of a part of it"
    ))
}

/// Depth and number of parts of a type, given those of the typedefs in it.
fn measure(ty: &Type, sizes: &[(usize, usize)]) -> (usize, usize) {
    match &ty.kind {
        TypeKind::Named(id) => sizes[id.index()],
        kind => kind.parts().map(|part| measure(part, sizes)).fold(
            (1, 1),
            |(depth, nodes), (part_depth, part_nodes)| {
                (depth.max(part_depth + 1), nodes.saturating_add(part_nodes))
            },
        ),
    }
}

fn base_type(base: Base) -> TypeKind {
    match base {
        Base::Bool => TypeKind::Bool,
        Base::I8 => TypeKind::I8,
        Base::I16 => TypeKind::I16,
        Base::I32 => TypeKind::I32,
        Base::I64 => TypeKind::I64,
        Base::Double => TypeKind::Double,
        Base::String => TypeKind::String,
        Base::Binary => TypeKind::Binary,
        Base::Uuid => TypeKind::Uuid,
    }
}
