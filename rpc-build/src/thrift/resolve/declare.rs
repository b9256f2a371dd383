//! First pass: who is called what.

use super::super::ast::{self, Item as Source};
use super::super::model::{
    ConstId, Definition, Enum, EnumValue, Facts, Item, Module, ModuleId, Namespace, Service, ServiceId,
    Struct, Type, TypeDef, TypeId, TypeKind,
};
use super::{ConstantSource, Resolver, TypeSource, head};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The names that one file declares, and the files it may refer to.
#[derive(Default)]
pub(super) struct Scope<'a> {
    /// Types and services share one name space.
    pub(super) types: HashMap<&'a str, Declared>,
    pub(super) constants: HashMap<&'a str, ConstId>,
    /// By stem. Files in different folders may have the same.
    pub(super) includes: HashMap<String, Vec<ModuleId>>,
    /// Stems of includes that could not be read: nothing is known of what they declare.
    pub(super) missing: &'a [String],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Type(TypeId),
    Service(ServiceId),
}

impl<'a> Resolver<'a> {
    pub(super) fn declare(&mut self) {
        let stems: Vec<String> = self.files.iter().map(|file| file.stem(self.sources)).collect();
        for (index, file) in self.files.iter().enumerate() {
            let stem = stems[index].clone();
            let mut scope = Scope { missing: &file.missing, ..Scope::default() };
            for (target, _) in &file.includes {
                scope.includes.entry(stems[*target].clone()).or_default().push(ModuleId::new(*target));
            }
            self.scopes.push(scope);
            self.model.modules.push(Module {
                file: file.id,
                path: module_path(&file.ast, &stem),
                stem,
                namespaces: file.ast.namespaces.iter().map(namespace).collect(),
                docs: file.ast.docs.clone(),
                requested: file.requested,
                includes: file.includes.iter().map(|(target, _)| ModuleId::new(*target)).collect(),
                items: Vec::new(),
            });
            for item in &file.ast.items {
                self.declare_item(ModuleId::new(index), item);
            }
        }
    }

    fn declare_item(&mut self, module: ModuleId, item: &'a Source) {
        let (source, definition, entry) = match item {
            Source::Const(source) => return self.declare_constant(module, source),
            Source::Service(source) => return self.declare_service(module, source),
            Source::Typedef(source) => {
                // the next pass puts the target in its place
                let nothing = Type { kind: TypeKind::Bool, annotations: Default::default() };
                (&source.head, Definition::Typedef(nothing), TypeSource::Typedef(source))
            }
            Source::Enum(source) => {
                let values = self.enum_values(source);
                (&source.head, Definition::Enum(Enum { values }), TypeSource::Enum)
            }
            Source::Struct(source) => {
                let fields = Struct { kind: source.kind, fields: Vec::new(), default_variant: None };
                (&source.head, Definition::Struct(fields), TypeSource::Struct(source))
            }
        };
        let id = TypeId::new(self.model.types.len());
        if self.claim_type(module, &source.name, Declared::Type(id)) {
            self.types.push(entry);
            let head = head(source);
            self.model.types.push(TypeDef { head, module, definition, facts: Facts::default() });
            self.model.modules[module.index()].items.push(Item::Type(id));
        }
    }

    fn declare_service(&mut self, module: ModuleId, source: &'a ast::Service) {
        let id = ServiceId::new(self.services.len());
        if self.claim_type(module, &source.head.name, Declared::Service(id)) {
            self.services.push(source);
            let head = head(&source.head);
            self.model.services.push(Service { head, module, parent: None, methods: Vec::new() });
            self.model.modules[module.index()].items.push(Item::Service(id));
        }
    }

    fn declare_constant(&mut self, module: ModuleId, source: &'a ast::Const) {
        let id = ConstId::new(self.constants.len());
        let name = &source.head.name;
        match self.scopes[module.index()].constants.entry(&name.text) {
            Entry::Occupied(first) => {
                let first = self.constants[first.get().index()].source.head.name.span;
                self.found.push(twice("constant", &name.text, name.span, first));
            }
            Entry::Vacant(entry) => {
                entry.insert(id);
                self.constants.push(ConstantSource { module, source, ty: None });
                self.model.modules[module.index()].items.push(Item::Constant(id));
            }
        }
    }

    fn claim_type(&mut self, module: ModuleId, name: &'a ast::Name, declared: Declared) -> bool {
        match self.scopes[module.index()].types.entry(&name.text) {
            Entry::Occupied(first) => {
                let first = match *first.get() {
                    Declared::Type(id) => self.model.type_def(id).head.span,
                    Declared::Service(id) => self.model.service(id).head.span,
                };
                self.found.push(twice("type", &name.text, name.span, first));
                false
            }
            Entry::Vacant(entry) => {
                entry.insert(declared);
                true
            }
        }
    }

    fn enum_values(&mut self, source: &ast::Enum) -> Vec<EnumValue> {
        let mut values: Vec<EnumValue> = Vec::with_capacity(source.values.len());
        let (mut names, mut numbers) = (HashMap::new(), HashMap::new());
        let mut next = 0;
        for value in &source.values {
            let name = &value.head.name;
            let (number, at) = value.number.unwrap_or((next, name.span));
            let Ok(exact) = i32::try_from(number) else {
                self.found.push(
                    Diagnostic::error(at, format!("{number} does not fit an enum"))
                        .help("the values of enums have 32 bits"),
                );
                continue;
            };
            next = number + 1;
            if let Some(first) = names.insert(name.text.as_str(), name.span) {
                self.found.push(twice("value", &name.text, name.span, first));
                continue;
            }
            match numbers.entry(exact) {
                Entry::Occupied(first) => {
                    let first: &&ast::Name = first.get();
                    self.found.push(
                        Diagnostic::warning(
                            at,
                            format!("`{}` is {exact}, as `{}` is", name.text, first.text),
                        )
                        .also(first.span, "the first with this number")
                        .help("what is received as this number is taken for the first"),
                    );
                }
                Entry::Vacant(entry) => {
                    entry.insert(name);
                }
            }
            values.push(EnumValue { head: head(&value.head), number: exact });
        }
        values
    }
}

/// The report of a name that is declared a second time.
pub(super) fn twice(kind: &str, name: &str, at: Span, first: Span) -> Diagnostic {
    Diagnostic::error(at, format!("the {kind} `{name}` is declared twice"))
        .label("declared again here")
        .also(first, "declared here first")
        .help("rename one of them")
}

fn namespace(source: &ast::Namespace) -> Namespace {
    Namespace {
        scope: source.scope.text.clone(),
        value: source.value.text.clone(),
        annotations: source.annotations.clone(),
    }
}

/// The last of several namespaces of a language counts, as everywhere.
fn module_path(file: &ast::File, stem: &str) -> Vec<String> {
    let find = |scope: &str| file.namespaces.iter().rev().find(|namespace| namespace.scope.text == scope);
    match find("rs").or_else(|| find("*")) {
        Some(namespace) => namespace.value.text.split('.').map(str::to_owned).collect(),
        None => vec![stem.to_owned()],
    }
}
