//! The tree of modules: one for each package, inside of which prost-build's relative paths hold.

use super::File;
use super::services::{Taken, services};
use super::types::type_names;
use crate::emit::{Options, Output, allow, ident};
use crate::error::Error;
use proc_macro2::TokenStream;
use prost_build::Module;
use quote::{ToTokens, quote};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use syn::Item;

/// Where the contents of files without package are.
const NO_PACKAGE: &str = "no_package";

/// A module that is being put together.
#[derive(Default)]
struct Node {
    /// Whether anything is asked of it, so that it has to be there even if empty.
    wanted: bool,
    items: TokenStream,
    /// Modules of this name that prost-build made for the parts of a message. They share it with a package's.
    parts: Vec<syn::ItemMod>,
    children: BTreeMap<String, Node>,
}

pub(super) fn write(
    files: &[File],
    options: &Options,
    output: &mut Output,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let rpc = &options.rpc;
    let needs = quote!(#rpc::needs_protobuf! {});
    let service_code = name_services(files, options, warnings);
    let by_name: HashMap<&str, usize> =
        files.iter().enumerate().map(|(index, file)| (file.descriptor.name(), index)).collect();
    let requested: Vec<usize> = (0..files.len()).filter(|index| files[*index].requested).collect();
    let tree = |of: &[usize]| {
        let mut needed = BTreeSet::new();
        let mut open = of.to_vec();
        while let Some(index) = open.pop() {
            if needed.insert(index) {
                let imports = files[index].descriptor.dependency.iter();
                open.extend(imports.filter_map(|name| by_name.get(name.as_str())));
            }
        }
        module_tree(files, &service_code, of, &needed)
    };
    for &index in &requested {
        let stem = &files[index].stem;
        let (tree, path) = (tree(&[index]), path(&files[index]));
        // what has no package is at the root already
        let own = (path != [NO_PACKAGE]).then(|| glob(&path));
        output.add(stem, "proto", quote!(#needs #tree #own))?;
    }
    if !requested.is_empty() {
        let modules: BTreeSet<String> = files.iter().filter_map(|file| path(file).first().cloned()).collect();
        let tree = tree(&requested);
        output.add_part(modules.into_iter().collect(), quote!(#needs #tree));
    }
    Ok(())
}

/// The services of each file. Their names are told apart from those of all files of the package.
fn name_services(files: &[File], options: &Options, warnings: &mut Vec<String>) -> Vec<TokenStream> {
    let mut taken: BTreeMap<Vec<String>, Taken> = BTreeMap::new();
    for file in files {
        let path = path(file);
        if let Some((last, above)) = path.split_last() {
            taken.entry(above.to_vec()).or_default().modules.insert(bare(last).to_owned());
        }
        let taken = taken.entry(path).or_default();
        taken.types.extend(type_names(&file.items).map(|name| bare(&name.to_string()).to_owned()));
        taken.modules.extend(file.items.iter().filter_map(|item| match item {
            Item::Mod(found) => Some(bare(&found.ident.to_string()).to_owned()),
            _ => None,
        }));
    }
    files.iter().map(|file| services(file, options, taken.entry(path(file)).or_default(), warnings)).collect()
}

/// The path of a file's package, as prost-build has it.
fn path(file: &File) -> Vec<String> {
    let module = Module::from_protobuf_package_name(file.descriptor.package());
    if module.is_empty() { vec![NO_PACKAGE.to_owned()] } else { module.parts().map(str::to_owned).collect() }
}

fn bare(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

fn module_tree(
    files: &[File],
    services: &[TokenStream],
    of: &[usize],
    needed: &BTreeSet<usize>,
) -> TokenStream {
    let mut root = Node::default();
    for &index in needed {
        let mut node = &mut root;
        for segment in path(&files[index]) {
            node = node.children.entry(segment).or_default();
        }
        node.wanted |= of.contains(&index);
        for item in &files[index].items {
            match item {
                Item::Mod(part) => {
                    node.children.entry(part.ident.to_string()).or_default().parts.push(part.clone());
                }
                item => item.to_tokens(&mut node.items),
            }
        }
        node.items.extend(services[index].clone());
    }
    // what a file without package has is at the root for others, and the others are beside it for it
    let beside =
        root.children.iter().filter(|(name, node)| *name != NO_PACKAGE && node.tokens(name).is_some());
    let beside: Vec<_> = beside.map(|(name, _)| ident(name)).collect();
    if let Some(node) = root.children.get_mut(NO_PACKAGE) {
        node.items.extend(quote!(#(use super::#beside;)*));
    }
    let attrs = allow();
    let modules = root.children.iter().filter_map(|(name, node)| {
        let module = node.tokens(name)?;
        Some(quote!(#attrs #module))
    });
    let no_package = root.children.contains_key(NO_PACKAGE).then(|| glob(&[NO_PACKAGE.to_owned()]));
    quote!(#(#modules)* #no_package)
}

fn glob(path: &[String]) -> TokenStream {
    let path = path.iter().map(|segment| ident(segment));
    quote!(#[allow(unused_imports, unreachable_pub)] pub use self:: #(#path::)* *;)
}

impl Node {
    /// The module; `None` if it is not needed: Google's packages are not, as their types are in another crate.
    fn tokens(&self, name: &str) -> Option<TokenStream> {
        let ident = ident(name);
        let items = &self.items;
        // what prost derives names the prelude, which a crate may have turned off; and it calls methods of traits, whose
        // names a message may have
        let prelude = quote! {
            use ::std::prelude::rust_2021::*;
            use ::core::{clone::Clone as _, convert::From as _, convert::Into as _, default::Default as _};
        };
        let attrs = self.parts.iter().flat_map(|part| &part.attrs);
        let parts =
            self.parts.iter().filter_map(|part| part.content.as_ref()).map(|(_, items)| quote!(#(#items)*));
        let children: Vec<TokenStream> =
            self.children.iter().filter_map(|(name, node)| node.tokens(name)).collect();
        if !self.wanted && self.items.is_empty() && self.parts.is_empty() && children.is_empty() {
            return None;
        }
        Some(quote! {
            #(#attrs)*
            pub mod #ident {
                #prelude
                #items
                #(#parts)*
                #(#children)*
            }
        })
    }
}
