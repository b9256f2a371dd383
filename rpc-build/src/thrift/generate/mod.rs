//! From a checked model to Rust.
//!
//! - `names`: what everything is called, and the tree of modules.
//! - `types`, `values`: the Rust of a type and of a value.
//! - `fields`: structs, exceptions and argument lists; `unions`, `enums`: the other types.
//! - `services`: services with their methods, and the errors of methods that declare exceptions.
//!
//! # What a type becomes
//!
//! A struct and an exception: a struct with public fields. A field is an `Option` if it is optional; of a recursive type
//! also if it is neither optional nor required. Every type has a `Default`: fields take the value that the schema gives,
//! optional ones too, else zero, empty or `None`. A missing field is read as its default; missing required ones are an
//! error.
//!
//! A union: an enum with a variant for each field. A field that the schema does not know is read as one more variant,
//! `Unknown`, which holds its id only and is refused when written: what was not understood is not passed on changed. A
//! known field beside unknown ones counts; two known ones, and none at all, are errors.
//!
//! An enum: a newtype of `i32` with a constant for each value, since other numbers are legal on the wire. Its default is
//! the number 0.
//!
//! Where the build asks for it, structs and unions keep what they do not know: a struct in one more field, a union in its variant.
//! They are written behind the known fields, in either protocol.
//!
//! A recursive type has a box where it contains itself without a container between. Dropping, comparing and printing go
//! down such a chain by recursion: one that an application links together out of tens of thousands of values can overflow
//! the stack. What is read from a peer is at most 64 levels deep, and so is what can be written.
//! A chain of sixty different structs, each in the one before, is more than rustc follows unasked: a crate with such a
//! schema needs `#![recursion_limit = "256"]`.
//!
//! A service: see [`crate::emit`]. A service that extends another has its trait as a supertrait.

mod enums;
mod fields;
mod names;
mod services;
mod types;
mod unions;
mod values;

use self::names::{Names, NodeId, Place, ROOT};
use super::Checked;
use super::model::{Definition, Item, Model, ModuleId, StructKind, TypeId};
use crate::diagnostic::Diagnostic;
use crate::emit::{Options, Output, allow, docs, ident};
use crate::error::Error;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::{BTreeSet, HashMap};

/// Adds a file for each requested schema, with all that it includes, and returns warnings about names that were changed.
///
/// # Errors
/// If two schemas have the same file name.
pub(crate) fn generate(
    checked: &Checked,
    options: &Options,
    output: &mut Output,
) -> Result<Vec<Diagnostic>, Error> {
    let model = &checked.model;
    let mut names = Names::new(model);
    let parts = name_parts(model, &mut names);
    let renames = std::mem::take(&mut names.renames);
    let generator = Generator {
        model,
        names,
        parts,
        rpc: options.rpc.clone(),
        serde: options.serde,
        keep_unknown: options.keep_unknown,
    };
    let rpc = &options.rpc;
    let needs = quote!(#rpc::needs_thrift! {});
    let requested = || (0..model.modules().len()).map(ModuleId::new).filter(|id| model.module(*id).requested);
    let code: Vec<TokenStream> =
        (0..model.modules().len()).map(|index| generator.module(ModuleId::new(index))).collect();
    for id in requested() {
        let stem = &model.module(id).stem;
        let file = generator.file(id, &code);
        output.add(stem, "thrift", quote!(#needs #file))?;
    }
    let all: Vec<ModuleId> = requested().collect();
    if !all.is_empty() {
        let modules = generator.names.nodes[ROOT].children.iter();
        let modules = modules.map(|child| generator.names.nodes[*child].ident.clone()).collect();
        let tree = generator.tree(&all, &code);
        output.add_part(modules, quote!(#needs #tree));
    }
    Ok(renames)
}

struct Generator<'a> {
    model: &'a Model,
    names: Names,
    /// The names of the fields, variants or constants of each type.
    parts: HashMap<TypeId, Vec<String>>,
    rpc: TokenStream,
    serde: bool,
    keep_unknown: bool,
}

/// Names the parts of all types.
fn name_parts(model: &Model, names: &mut Names) -> HashMap<TypeId, Vec<String>> {
    use crate::naming::Kind;
    let mut parts = HashMap::new();
    for (index, def) in model.types().iter().enumerate() {
        let (kind, heads) = match &def.definition {
            Definition::Typedef(_) => continue,
            Definition::Enum(values) => {
                (Kind::Const, values.values.iter().map(|value| &value.head).collect::<Vec<_>>())
            }
            Definition::Struct(definition) => {
                let kind = if definition.kind == StructKind::Union { Kind::Type } else { Kind::Value };
                (kind, definition.fields.iter().map(|field| &field.head).collect())
            }
        };
        let heads = heads.iter().map(|head| (head.name.as_str(), head.span));
        let given = names.assign_reporting(heads, &format!("`{}`", def.head.name), kind, &[]);
        parts.insert(TypeId::new(index), given.into_iter().map(|name| name.ident).collect());
    }
    parts
}

impl Generator<'_> {
    fn field_names(&self, id: TypeId) -> &[String] {
        self.parts.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    fn enum_names(&self, id: TypeId) -> &[String] {
        self.field_names(id)
    }

    /// The items of a module.
    fn module(&self, id: ModuleId) -> TokenStream {
        let place = Place::module(self.names.node_of(id));
        let items = self.model.module(id).items.iter().map(|item| match *item {
            Item::Type(id) => self.type_def(id, place),
            Item::Constant(id) => self.constant(self.model.constant(id), self.names.constant(id), place),
            Item::Service(id) => self.service(id, place),
        });
        quote!(#(#items)*)
    }

    fn type_def(&self, id: TypeId, place: Place) -> TokenStream {
        let def = self.model.type_def(id);
        match &def.definition {
            Definition::Typedef(target) => {
                let name = ident(self.names.type_name(id));
                let target = self.ty(target, types::Mode::Plain, place);
                let doc = docs([def.head.docs.as_deref()]);
                quote!(#doc pub type #name = #target;)
            }
            Definition::Enum(values) => self.enumeration(id, values, place),
            Definition::Struct(definition) if definition.kind == StructKind::Union => {
                self.union(id, definition, place)
            }
            Definition::Struct(definition) => self.structure(id, definition, place),
        }
    }

    /// The file of one schema: the tree of all it needs, and its own contents at the root.
    fn file(&self, id: ModuleId, code: &[TokenStream]) -> TokenStream {
        let tree = self.tree(&[id], code);
        let path = self.names.root_path(self.names.node_of(id));
        quote!(#tree #[allow(unused_imports, unreachable_pub)] pub use self:: #(#path::)* *;)
    }

    fn tree(&self, of: &[ModuleId], code: &[TokenStream]) -> TokenStream {
        let mut needed = BTreeSet::new();
        let mut open: Vec<ModuleId> = of.to_vec();
        while let Some(id) = open.pop() {
            if needed.insert(id) {
                open.extend(&self.model.module(id).includes);
            }
        }
        let root = &self.names.nodes[ROOT];
        let children = root.children.iter().filter_map(|child| self.node(*child, &needed, code));
        let attrs = allow();
        let children = children.map(|child| quote!(#attrs #child));
        quote!(#(#children)*)
    }

    /// A module with those of its parts that are needed; `None` if none is.
    fn node(&self, node: NodeId, needed: &BTreeSet<ModuleId>, code: &[TokenStream]) -> Option<TokenStream> {
        let found = &self.names.nodes[node];
        let modules: Vec<&ModuleId> = found.modules.iter().filter(|id| needed.contains(id)).collect();
        let children: Vec<TokenStream> =
            found.children.iter().filter_map(|child| self.node(*child, needed, code)).collect();
        if modules.is_empty() && children.is_empty() {
            return None;
        }
        let name = ident(&found.ident);
        let doc = docs(modules.iter().map(|id| self.model.module(**id).docs.as_deref()));
        let items = modules.iter().map(|id| &code[id.index()]);
        Some(quote! { #doc pub mod #name { #(#items)* #(#children)* } })
    }
}
