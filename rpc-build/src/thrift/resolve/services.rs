//! Third pass: services, whom they extend, and their methods.

use super::super::ast;
use super::super::graph::cycles;
use super::super::model::{Answer, Method, ModuleId, ServiceId, StructKind};
use super::declare::{Declared, twice};
use super::types::Place;
use super::{DefaultOf, Resolver, head};
use crate::diagnostic::Diagnostic;
use std::collections::HashMap;

/// Most services in a line of `extends`.
const MAX_LINEAGE: usize = 64;

impl<'a> Resolver<'a> {
    pub(super) fn resolve_services(&mut self) {
        for index in 0..self.services.len() {
            let id = ServiceId::new(index);
            let source = self.services[index];
            let module = self.model.service(id).module;
            let parent = source.parent.as_ref().and_then(|name| self.parent(module, name));
            self.model.services[index].parent = parent;
            let methods: Vec<Method> = source
                .methods
                .iter()
                .enumerate()
                .map(|(position, method)| self.method(id, module, position, method))
                .collect();
            self.model.services[index].methods = methods;
        }
        self.refuse_endless_lineages();
        for index in 0..self.services.len() {
            self.check_names(ServiceId::new(index));
        }
    }

    fn parent(&mut self, module: ModuleId, name: &ast::Name) -> Option<ServiceId> {
        match self.declared(module, &name.text, name.span, "service")? {
            Declared::Service(id) => Some(id),
            other @ Declared::Type(_) => {
                self.found.push(
                    Diagnostic::error(name.span, format!("`{}` is a type, not a service", name.text))
                        .also(self.span_of(other), "declared here")
                        .help("a service can only extend a service"),
                );
                None
            }
        }
    }

    fn method(
        &mut self,
        service: ServiceId,
        module: ModuleId,
        position: usize,
        source: &'a ast::Method,
    ) -> Method {
        let answer = match (source.oneway, &source.returns) {
            (Some(_), None) => Answer::None,
            (None, None) => Answer::Void,
            (Some(oneway), Some(result)) => {
                self.found.push(
                    Diagnostic::error(
                        result.span,
                        format!("the oneway method `{}` has a result", source.head.name.text),
                    )
                    .also(oneway, "oneway: nothing is sent back")
                    .help("write `void`, or remove `oneway`"),
                );
                Answer::None
            }
            (None, Some(result)) => self.type_of(module, result).map_or(Answer::Void, Answer::Value),
        };
        if let (Some(oneway), Some(first)) = (source.oneway, source.throws.first()) {
            self.found.push(
                Diagnostic::error(
                    first.head.name.span,
                    format!("the oneway method `{}` throws", source.head.name.text),
                )
                .also(oneway, "oneway: nothing is sent back")
                .help("remove `throws`, or remove `oneway`"),
            );
        }
        let args = self.fields(module, &source.args, Place::Arguments);
        for (argument, value) in args.defaults {
            self.defaults.push((DefaultOf::Argument(service, position, argument), module, value));
        }
        let throws = self.fields(module, &source.throws, Place::Exceptions).fields;
        for field in &throws {
            if !self.is_exception(field) {
                let at = source.throws.iter().find(|source| source.head.name.span == field.head.span);
                let at = at.map_or(field.head.span, |source| source.ty.span);
                let shown = self.show(&field.ty);
                self.found.push(
                    Diagnostic::error(at, format!("`{shown}` is not an exception"))
                        .label("only exceptions can be thrown")
                        .help(match self.model.as_struct(&field.ty) {
                            Some(_) => format!("declare `{shown}` with the keyword `exception`"),
                            None => "declare an exception with a field of this type".to_owned(),
                        }),
                );
            }
        }
        Method { head: head(&source.head), answer, args: args.fields, throws }
    }

    fn is_exception(&self, field: &super::super::model::Field) -> bool {
        match self.model.as_struct(&field.ty) {
            Some((_, found)) => found.kind == StructKind::Exception,
            // a typedef that was reported may have meant one
            None => self.is_refused(&field.ty),
        }
    }

    /// Services that extend themselves, or too long a line. Their parents are removed.
    fn refuse_endless_lineages(&mut self) {
        let parents = |services: &[super::super::model::Service]| -> Vec<Vec<usize>> {
            services.iter().map(|service| service.parent.iter().map(|id| id.index()).collect()).collect()
        };
        for chain in cycles(&parents(&self.model.services)) {
            let name = |index: usize| format!("`{}`", self.model.services[index].head.name);
            let names: Vec<String> = chain.iter().chain(chain.first()).map(|index| name(*index)).collect();
            let mut diagnostic = Diagnostic::error(
                self.model.services[chain[0]].head.span,
                format!("this service extends itself: {}", names.join(" → ")),
            )
            .help("remove one `extends`");
            for index in &chain[1..] {
                diagnostic = diagnostic.also(self.model.services[*index].head.span, "by way of this");
            }
            self.found.push(diagnostic);
            for index in chain {
                self.model.services[index].parent = None;
            }
        }
        for index in 0..self.model.services.len() {
            if self.model.lineage(ServiceId::new(index)).nth(MAX_LINEAGE).is_some() {
                self.found.push(
                    Diagnostic::error(
                        self.model.services[index].head.span,
                        "this service extends too many others",
                    )
                    .help(format!("at most {} in a line", MAX_LINEAGE - 1)),
                );
                self.model.services[index].parent = None;
            }
        }
    }

    /// Methods of one name: in a service, or in a service and one that it extends.
    fn check_names(&mut self, id: ServiceId) {
        let mut names = HashMap::new();
        let mut found = Vec::new();
        for method in &self.model.service(id).methods {
            if let Some(first) = names.insert(method.head.name.as_str(), method.head.span) {
                found.push(twice("method", &method.head.name, method.head.span, first));
            }
        }
        for (_, ancestor) in self.model.lineage(id).skip(1) {
            for method in &ancestor.methods {
                if let Some(own) = names.get(method.head.name.as_str()) {
                    let (name, parent) = (&method.head.name, &ancestor.head.name);
                    found.push(
                        Diagnostic::error(
                            *own,
                            format!("the method `{name}` is inherited from `{parent}` already"),
                        )
                        .label("declared again here")
                        .also(method.head.span, "inherited from here")
                        .help("a method can not be overridden; give it another name"),
                    );
                }
            }
        }
        self.found.extend(found);
    }
}
