//! Names to what they mean, and every rule that spans more than one definition.
//!
//! The passes, in order:
//!
//! 1. `declare`: who is called what in each file; numbers of enum values
//! 2. `types`: targets of typedefs, which must end; fields of structs, with their ids
//! 3. `services`: parents, methods, arguments, exceptions
//! 4. `values`: constants and defaults, each against its type
//! 5. `shape`: boxes, finite defaults, and what types contain
//!
//! A part that makes no sense is reported once and left out; a type that lacks a part for that reason is
//! [`unsure`](Resolver::unsure), and what depends on the missing part is passed over in silence. If anything was
//! reported as an error the model is thrown away by the caller.

mod declare;
mod lookup;
mod services;
mod shape;
mod types;
mod values;

use super::ast;
use super::load::LoadedFile;
use super::model::{Constant, Definition, Field, Head, Model, ModuleId, ServiceId, Type, TypeId, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use declare::Scope;
use std::collections::HashSet;

/// Checks all files together.
pub(super) fn resolve(files: &[LoadedFile], sources: &SourceMap) -> (Model, Vec<Diagnostic>) {
    let mut resolver = Resolver {
        files,
        sources,
        model: Model::default(),
        scopes: Vec::new(),
        types: Vec::new(),
        constants: Vec::new(),
        services: Vec::new(),
        unsure: HashSet::new(),
        sizes: None,
        defaults: Vec::new(),
        found: Vec::new(),
    };
    resolver.declare();
    resolver.resolve_types();
    resolver.resolve_services();
    resolver.resolve_constants();
    shape::shape(&mut resolver.model, &mut resolver.found);
    (resolver.model, resolver.found)
}

struct Resolver<'a> {
    files: &'a [LoadedFile],
    sources: &'a SourceMap,
    /// Filled pass by pass; ids are those of the first pass.
    model: Model,
    /// By module.
    scopes: Vec<Scope<'a>>,
    /// What each type of the model was declared as.
    types: Vec<TypeSource<'a>>,
    /// The constants, whose ids are the positions here. The model gets them when all are known.
    constants: Vec<ConstantSource<'a>>,
    services: Vec<&'a ast::Service>,
    /// Types of which a part could not be resolved.
    unsure: HashSet<TypeId>,
    /// Depth and number of parts of each type with its typedefs expanded, once these are known to end.
    sizes: Option<Vec<(usize, usize)>>,
    /// Default values to check against the types of their fields.
    defaults: Vec<(DefaultOf, ModuleId, &'a ast::Expr)>,
    found: Vec<Diagnostic>,
}

enum TypeSource<'a> {
    Typedef(&'a ast::Typedef),
    Enum,
    Struct(&'a ast::Struct),
}

struct ConstantSource<'a> {
    module: ModuleId,
    source: &'a ast::Const,
    /// `None` if it could not be resolved.
    ty: Option<Type>,
}

/// The field that a default value belongs to.
#[derive(Clone, Copy)]
enum DefaultOf {
    Field(TypeId, usize),
    /// Method and argument.
    Argument(ServiceId, usize, usize),
}

impl Resolver<'_> {
    fn field(&self, owner: DefaultOf) -> Option<&Field> {
        match owner {
            DefaultOf::Field(id, field) => match &self.model.type_def(id).definition {
                Definition::Struct(definition) => definition.fields.get(field),
                _ => None,
            },
            DefaultOf::Argument(id, method, argument) => {
                self.model.service(id).methods.get(method)?.args.get(argument)
            }
        }
    }

    fn field_mut(&mut self, owner: DefaultOf) -> Option<&mut Field> {
        match owner {
            DefaultOf::Field(id, field) => match &mut self.model.types[id.index()].definition {
                Definition::Struct(definition) => definition.fields.get_mut(field),
                _ => None,
            },
            DefaultOf::Argument(id, method, argument) => {
                self.model.services[id.index()].methods.get_mut(method)?.args.get_mut(argument)
            }
        }
    }

    /// Whether a type goes through a typedef that was reported, so that nothing is known of it.
    fn is_refused<'t>(&'t self, mut ty: &'t Type) -> bool {
        while let TypeKind::Named(id) = ty.kind
            && let Definition::Typedef(target) = &self.model.type_def(id).definition
        {
            if self.unsure.contains(&id) {
                return true;
            }
            ty = target;
        }
        false
    }

    fn resolve_constants(&mut self) {
        for index in 0..self.constants.len() {
            let ConstantSource { module, source, .. } = self.constants[index];
            self.constants[index].ty = self.type_of(module, &source.ty);
        }
        let (constants, defaults, found) = values::check_all(self);
        self.found.extend(found);
        for (source, value) in self.constants.iter().zip(constants) {
            if let (Some(ty), Some(value)) = (&source.ty, value) {
                let head = head(&source.source.head);
                self.model.constants.push(Constant { head, module: source.module, ty: ty.clone(), value });
            }
        }
        for (owner, value) in defaults {
            if let Some(field) = self.field_mut(owner) {
                field.default = Some(value);
            }
        }
    }
}

fn head(source: &ast::Head) -> Head {
    Head {
        name: source.name.text.clone(),
        docs: source.docs.clone(),
        annotations: source.annotations.clone(),
        span: source.name.span,
    }
}
