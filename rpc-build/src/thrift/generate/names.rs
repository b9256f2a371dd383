//! What everything in the model is called, and the tree of Rust modules that holds it.
//!
//! Files that share a namespace share a module. Names that a schema gives come first in every scope; those that the
//! generator adds to them (`GreeterClient`, the module `greeter_methods`, a union's `Unknown`) take a number where a schema's
//! name is in their way.

use super::super::model::{ConstId, Definition, Item, Method, Model, ModuleId, ServiceId, TypeId};
use crate::diagnostic::Diagnostic;
use crate::emit::{CLIENT_RESERVED, ident, unused};
use crate::naming::{Kind, Name, assign};
use crate::source::Span;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::{HashMap, HashSet};

/// Lower-case names that a module can not have, or code beside it would take it for a primitive type.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// A module of the tree.
pub(super) type NodeId = usize;

/// The root has no name: it is where the generated file is included.
pub(super) const ROOT: NodeId = 0;

#[derive(Debug, Default)]
pub(super) struct Node {
    segment: String,
    pub(super) ident: String,
    pub(super) parent: NodeId,
    pub(super) children: Vec<NodeId>,
    /// The files that make it up.
    pub(super) modules: Vec<ModuleId>,
    types: HashSet<String>,
}

/// The names of a service's own parts.
#[derive(Debug, Default)]
pub(super) struct ServiceNames {
    pub(super) client: String,
    pub(super) server: String,
    pub(super) module: String,
    /// For each of its own methods.
    pub(super) methods: Vec<MethodNames>,
}

#[derive(Debug, Default)]
pub(super) struct MethodNames {
    pub(super) ident: String,
    /// The type of a method, and those of its arguments and of its exceptions, in the service's module.
    pub(super) marker: String,
    pub(super) args: String,
    pub(super) exception: String,
    /// The error, in the module of the service's trait.
    pub(super) error: String,
}

#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) nodes: Vec<Node>,
    node_of: Vec<NodeId>,
    types: HashMap<TypeId, String>,
    traits: HashMap<ServiceId, String>,
    constants: HashMap<ConstId, String>,
    services: HashMap<ServiceId, ServiceNames>,
    /// A warning for each name that needed a number.
    pub(super) renames: Vec<Diagnostic>,
}

/// Where code stands: in a module of the tree, or in the module of one of its services.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) node: NodeId,
    pub(super) inside_service: bool,
}

impl Place {
    pub(super) fn module(node: NodeId) -> Self {
        Self { node, inside_service: false }
    }

    pub(super) fn service(node: NodeId) -> Self {
        Self { node, inside_service: true }
    }
}

impl Names {
    pub(super) fn new(model: &Model) -> Self {
        let mut names = Self { nodes: vec![Node::default()], ..Self::default() };
        names.grow_tree(model);
        for node in 0..names.nodes.len() {
            names.name_items(model, node);
        }
        // a parent's names are needed for its children's
        let mut services: Vec<ServiceId> = names.traits.keys().copied().collect();
        services.sort_by_key(|id| (model.lineage(*id).count(), *id));
        for id in services {
            names.name_methods(model, id);
        }
        for node in 0..names.nodes.len() {
            names.name_modules(model, node);
        }
        names
    }

    pub(super) fn node_of(&self, module: ModuleId) -> NodeId {
        self.node_of[module.index()]
    }

    pub(super) fn type_name(&self, id: TypeId) -> &str {
        &self.types[&id]
    }

    /// The names of a module's types and traits.
    pub(super) fn types_of(&self, node: NodeId) -> impl Iterator<Item = &str> {
        self.nodes[node].types.iter().map(String::as_str)
    }

    pub(super) fn trait_name(&self, id: ServiceId) -> &str {
        &self.traits[&id]
    }

    pub(super) fn constant(&self, id: ConstId) -> &str {
        &self.constants[&id]
    }

    pub(super) fn service(&self, id: ServiceId) -> &ServiceNames {
        &self.services[&id]
    }

    /// The path to an item of a module, by the shortest way.
    pub(super) fn path(&self, from: Place, to: NodeId, name: &str) -> TokenStream {
        let (start, end) = (self.ancestry(from.node), self.ancestry(to));
        let shared = start.iter().zip(&end).take_while(|(a, b)| a == b).count();
        let up = start.len() - shared + usize::from(from.inside_service);
        let up = (0..up).map(|_| quote!(super::));
        let down = end[shared..].iter().map(|node| {
            let name = ident(&self.nodes[*node].ident);
            quote!(#name::)
        });
        let name = ident(name);
        quote!(#(#up)* #(#down)* #name)
    }

    /// The path of a module from the root.
    pub(super) fn root_path(&self, node: NodeId) -> Vec<Ident> {
        self.ancestry(node)[1..].iter().map(|node| ident(&self.nodes[*node].ident)).collect()
    }

    /// A name for a type parameter that hides no type of the place's module.
    pub(super) fn generic(&self, place: Place, want: &str) -> Ident {
        unused(want, |name| !place.inside_service && self.nodes[place.node].types.contains(name))
    }

    /// Names of a scope; those that took a number are reported.
    pub(super) fn assign_reporting<'a>(
        &mut self,
        heads: impl Iterator<Item = (&'a str, Span)> + Clone,
        of: &str,
        kind: Kind,
        reserved: &[&str],
    ) -> Vec<Name> {
        let names = assign(heads.clone().map(|(name, _)| name), kind, reserved);
        for ((name, span), given) in heads.zip(&names) {
            if given.renamed {
                self.renamed(span, name, of, &given.ident);
            }
        }
        names
    }

    fn renamed(&mut self, span: Span, name: &str, of: &str, given: &str) {
        let message = format!("`{name}` of {of} is called `{given}` in Rust, where its own name is taken");
        self.renames.push(Diagnostic::warning(span, message));
    }

    fn ancestry(&self, node: NodeId) -> Vec<NodeId> {
        let mut path = vec![node];
        let mut at = node;
        while at != ROOT {
            at = self.nodes[at].parent;
            path.push(at);
        }
        path.reverse();
        path
    }

    fn grow_tree(&mut self, model: &Model) {
        for (index, module) in model.modules().iter().enumerate() {
            let mut at = ROOT;
            for segment in &module.path {
                at = self.child(at, segment);
            }
            self.nodes[at].modules.push(ModuleId::new(index));
            self.node_of.push(at);
        }
    }

    fn child(&mut self, parent: NodeId, segment: &str) -> NodeId {
        let known = self.nodes[parent].children.iter().find(|child| self.nodes[**child].segment == segment);
        if let Some(&child) = known {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node { segment: segment.to_owned(), parent, ..Node::default() });
        self.nodes[parent].children.push(child);
        child
    }

    /// Types and traits first, then what is added to services, then constants.
    fn name_items(&mut self, model: &Model, node: NodeId) {
        let items: Vec<Item> =
            self.nodes[node].modules.iter().flat_map(|id| model.module(*id).items.iter().copied()).collect();
        let of = "this namespace";
        let types: Vec<(&str, Span, Item)> = items
            .iter()
            .filter_map(|item| match *item {
                Item::Type(id) => Some((&model.type_def(id).head, *item)),
                Item::Service(id) => Some((&model.service(id).head, *item)),
                Item::Constant(_) => None,
            })
            .map(|(head, item)| (head.name.as_str(), head.span, item))
            .collect();
        let heads = types.iter().map(|(name, span, _)| (*name, *span));
        let given = self.assign_reporting(heads, of, Kind::Type, &[]);
        let mut taken: HashSet<String> = given.iter().map(|name| name.bare().to_owned()).collect();
        // an enum is a tuple struct, whose name is that of a function too
        let mut values = Vec::new();
        for ((_, _, item), name) in types.iter().zip(given) {
            match *item {
                Item::Type(id) => {
                    if matches!(model.type_def(id).definition, Definition::Enum(_)) {
                        values.push(name.bare().to_owned());
                    }
                    self.types.insert(id, name.ident);
                }
                Item::Service(id) => {
                    self.traits.insert(id, name.ident);
                }
                Item::Constant(_) => {}
            }
        }
        for (_, _, item) in &types {
            if let Item::Service(id) = *item {
                let added = self.name_added(model, id, &mut taken);
                self.services.insert(id, added);
            }
        }
        self.nodes[node].types = taken;
        let constants: Vec<ConstId> = items
            .iter()
            .filter_map(|item| if let Item::Constant(id) = item { Some(*id) } else { None })
            .collect();
        let heads = constants.iter().map(|id| &model.constant(*id).head);
        let heads = heads.map(|head| (head.name.as_str(), head.span));
        let reserved: Vec<&str> = values.iter().map(String::as_str).collect();
        let given = self.assign_reporting(heads, of, Kind::Const, &reserved);
        self.constants.extend(constants.into_iter().zip(given.into_iter().map(|name| name.ident)));
    }

    fn name_added(&mut self, model: &Model, id: ServiceId, taken: &mut HashSet<String>) -> ServiceNames {
        let service = model.service(id);
        let base = bare(&self.traits[&id]).to_owned();
        let mut added = |suffix: &str| take(taken, format!("{base}{suffix}"));
        let (client, server) = (added("Client"), added("Server"));
        let methods = service
            .methods
            .iter()
            .map(|method| {
                let camel = crate::naming::ident(&method.head.name, Kind::Type);
                let error = if method.throws.is_empty() {
                    String::new()
                } else {
                    added(&format!("{}Error", bare(&camel)))
                };
                MethodNames { error, ..MethodNames::default() }
            })
            .collect();
        ServiceNames { client, server, methods, ..ServiceNames::default() }
    }

    /// Methods of a service and all it extends have different names, since a client has them all. A method has the same
    /// name in every service that inherits it.
    fn name_methods(&mut self, model: &Model, id: ServiceId) {
        let service = model.service(id);
        let mut reserved: Vec<String> = CLIENT_RESERVED.map(str::to_owned).to_vec();
        let mut parent = service.parent;
        while let Some(id) = parent {
            reserved.extend(self.services[&id].methods.iter().map(|names| bare(&names.ident).to_owned()));
            parent = model.service(id).parent;
        }
        let reserved: Vec<&str> = reserved.iter().map(String::as_str).collect();
        let heads = service.methods.iter().map(|method| (method.head.name.as_str(), method.head.span));
        let of = format!("service `{}`", service.head.name);
        let idents = self.assign_reporting(heads.clone(), &of, Kind::Value, &reserved);
        let markers = assign(heads.map(|(name, _)| name), Kind::Type, &[]);
        let mut taken: HashSet<String> = markers.iter().map(|name| name.bare().to_owned()).collect();
        let Some(names) = self.services.get_mut(&id) else { return };
        for (index, method) in names.methods.iter_mut().enumerate() {
            method.ident.clone_from(&idents[index].ident);
            method.marker.clone_from(&markers[index].ident);
            method.args = take(&mut taken, format!("{}Args", markers[index].bare()));
            method.exception = take(&mut taken, format!("{}Exception", markers[index].bare()));
        }
    }

    fn name_modules(&mut self, model: &Model, node: NodeId) {
        let types = self.nodes[node].types.clone();
        let mut reserved: Vec<&str> = types.iter().map(String::as_str).collect();
        reserved.extend(PRIMITIVES);
        let children = self.nodes[node].children.clone();
        let segments: Vec<String> = children.iter().map(|child| self.nodes[*child].segment.clone()).collect();
        let given = assign(segments.iter().map(String::as_str), Kind::Value, &reserved);
        for (child, name) in children.into_iter().zip(&given) {
            self.nodes[child].ident.clone_from(&name.ident);
        }
        reserved.extend(given.iter().map(Name::bare));
        let services: Vec<ServiceId> = self.nodes[node]
            .modules
            .iter()
            .flat_map(|id| &model.module(*id).items)
            .filter_map(|item| if let Item::Service(id) = item { Some(*id) } else { None })
            .collect();
        let mut taken: HashSet<String> = reserved.into_iter().map(str::to_owned).collect();
        for id in services {
            let snake = crate::naming::ident(&model.service(id).head.name, Kind::Value);
            if let Some(service) = self.services.get_mut(&id) {
                // not the plain name: it would often be that of the namespace
                service.module = take(&mut taken, format!("{}_methods", bare(&snake)));
            }
        }
    }

    /// The names of all methods that a service has, inherited ones first: those of a method, and the service that
    /// declares it.
    pub(super) fn all_methods<'a>(
        &'a self,
        model: &'a Model,
        id: ServiceId,
    ) -> Vec<(ServiceId, &'a Method, &'a MethodNames)> {
        let mut lineage: Vec<ServiceId> = model.lineage(id).map(|(id, _)| id).collect();
        lineage.reverse();
        lineage
            .into_iter()
            .flat_map(|id| {
                let names = &self.services[&id].methods;
                model.service(id).methods.iter().zip(names).map(move |(method, names)| (id, method, names))
            })
            .collect()
    }
}

/// A name without `r#`.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// The name, or with the lowest number from 2 that makes it new.
pub(super) fn take(taken: &mut HashSet<String>, name: String) -> String {
    if taken.insert(name.clone()) {
        return name;
    }
    let mut number = 2u64;
    loop {
        let numbered = format!("{name}{number}");
        if taken.insert(numbered.clone()) {
            return numbered;
        }
        number += 1;
    }
}
