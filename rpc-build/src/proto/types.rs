//! What is added to the types that prost-build makes.
//!
//! Each type carries, while it is worked on, an attribute with its full name in the schema.

use super::compile::CompiledFile;
use super::{File, Options};
use crate::emit::{FieldKind, SerdeField, docs, struct_impls, union_impls};
use proc_macro2::{Ident, TokenStream};
use prost_types::{DescriptorProto, FieldDescriptorProto};
use quote::quote;
use std::collections::{HashMap, HashSet};
use syn::{Attribute, Expr, ExprLit, Fields, Item, Lit, LitStr, Meta, Type};

const MARK: &str = "rpc_build_name";

/// Well-known types that are plain Rust types, which serde knows.
const PLAIN: [&str; 10] = [
    ".google.protobuf.BoolValue",
    ".google.protobuf.BytesValue",
    ".google.protobuf.DoubleValue",
    ".google.protobuf.Empty",
    ".google.protobuf.FloatValue",
    ".google.protobuf.Int32Value",
    ".google.protobuf.Int64Value",
    ".google.protobuf.StringValue",
    ".google.protobuf.UInt32Value",
    ".google.protobuf.UInt64Value",
];

/// Has prost-build write the full name on each message and each oneof.
pub(super) fn mark(config: &mut prost_build::Config, files: &[CompiledFile]) {
    let mut mark = |name: &str| {
        config.type_attribute(name, format!("#[{MARK} = \"{name}\"]"));
    };
    for file in files {
        each_message(
            &file.descriptor.message_type,
            &prefix(file.descriptor.package()),
            &mut |name, message| {
                mark(name);
                for oneof in &message.oneof_decl {
                    mark(&format!("{name}.{}", oneof.name()));
                }
            },
        );
    }
}

/// Adds the impls, and takes the marks away.
pub(super) fn complete(files: &mut [File], options: &Options) {
    let mut messages = HashMap::new();
    for file in &*files {
        let package = prefix(file.descriptor.package());
        each_message(&file.descriptor.message_type, &package, &mut |name, message| {
            messages.insert(name.to_owned(), message.clone());
        });
    }
    let completer = Completer { without_serde: without_serde(&messages), messages, options };
    for file in files {
        completer.items(&mut file.items);
    }
}

fn prefix(package: &str) -> String {
    if package.is_empty() { String::new() } else { format!(".{package}") }
}

fn each_message(messages: &[DescriptorProto], prefix: &str, visit: &mut impl FnMut(&str, &DescriptorProto)) {
    for message in messages {
        let name = format!("{prefix}.{}", message.name());
        visit(&name, message);
        each_message(&message.nested_type, &name, visit);
    }
}

/// The messages that hold, directly or not, a well-known type that serde does not know.
fn without_serde(messages: &HashMap<String, DescriptorProto>) -> HashSet<String> {
    let mut without = HashSet::new();
    let known = |name: &str, without: &HashSet<String>| {
        !without.contains(name) && (!name.starts_with(".google.protobuf.") || PLAIN.contains(&name))
    };
    loop {
        let before = without.len();
        for (name, message) in messages {
            let is_message = |field: &&FieldDescriptorProto| {
                use prost_types::field_descriptor_proto::Type;
                matches!(field.r#type(), Type::Message | Type::Group)
            };
            let mut fields = message.field.iter().filter(is_message);
            if fields.any(|field| !known(field.type_name(), &without)) {
                without.insert(name.clone());
            }
        }
        if without.len() == before {
            return without;
        }
    }
}

struct Completer<'a> {
    messages: HashMap<String, DescriptorProto>,
    without_serde: HashSet<String>,
    options: &'a Options,
}

impl Completer<'_> {
    fn items(&self, items: &mut Vec<Item>) {
        let mut added = Vec::new();
        for item in &mut *items {
            match item {
                Item::Struct(message) => {
                    let name = take_mark(&mut message.attrs);
                    tidy(&mut message.attrs);
                    if let Fields::Named(fields) = &mut message.fields {
                        fields.named.iter_mut().for_each(|field| tidy(&mut field.attrs));
                    }
                    added.push(self.message(message, name.as_deref()));
                }
                Item::Enum(found) => {
                    let name = take_mark(&mut found.attrs);
                    tidy(&mut found.attrs);
                    found.variants.iter_mut().for_each(|variant| tidy(&mut variant.attrs));
                    added.extend(name.and_then(|name| self.oneof(found, &name)));
                }
                Item::Mod(module) => {
                    tidy(&mut module.attrs);
                    if let Some((_, items)) = &mut module.content {
                        self.items(items);
                    }
                }
                _ => {}
            }
        }
        items.extend(added.into_iter().map(Item::Verbatim));
    }

    fn message(&self, item: &syn::ItemStruct, name: Option<&str>) -> TokenStream {
        let rpc = &self.options.rpc;
        let ident = &item.ident;
        let marked = quote!(impl #rpc::codegen::protobuf::ProtoMessage for #ident {});
        let known = name.and_then(|name| Some((name, self.messages.get(name)?)));
        let Some((name, descriptor)) = known.filter(|(name, _)| self.has_serde(name)) else { return marked };
        let mut fields: Vec<(usize, SerdeField<'_>)> = Vec::new();
        for field in &item.fields {
            let Some(ident) = &field.ident else { continue };
            let ProstField { tags, oneof } = prost_field(&field.attrs);
            let declared = descriptor.field.iter().enumerate();
            let Some((index, first)) =
                declared.filter(|(_, field)| tags.contains(&field.number())).min_by_key(|f| f.0)
            else {
                continue;
            };
            let oneof = oneof
                .then(|| descriptor.oneof_decl.get(usize::try_from(first.oneof_index()).ok()?))
                .flatten();
            let (name, id, kind) = match oneof {
                Some(oneof) => (oneof.name(), 0, FieldKind::Oneof),
                None if is_option(&field.ty) => (first.name(), first.number(), FieldKind::Optional),
                None => (first.name(), first.number(), FieldKind::Plain),
            };
            fields.push((index, SerdeField { ident, name: super::rename::original(name), id, kind }));
        }
        fields.sort_by_key(|(index, _)| *index);
        let fields: Vec<SerdeField<'_>> = fields.into_iter().map(|(_, field)| field).collect();
        let short = name.rsplit('.').next().unwrap_or(name);
        let serde = struct_impls(rpc, ident, super::rename::original(short), &fields);
        quote!(#marked #serde)
    }

    fn oneof(&self, item: &syn::ItemEnum, name: &str) -> Option<TokenStream> {
        let (message, oneof) = name.rsplit_once('.')?;
        let descriptor = self.messages.get(message)?;
        // the mark of a message is on the enums in it as well
        descriptor.oneof_decl.iter().find(|declared| declared.name() == oneof)?;
        if !self.has_serde(message) {
            return None;
        }
        let mut fields = Vec::new();
        for variant in &item.variants {
            let tags = prost_field(&variant.attrs).tags;
            let field = descriptor.field.iter().find(|field| tags.contains(&field.number()))?;
            fields.push(SerdeField {
                ident: &variant.ident,
                name: super::rename::original(field.name()),
                id: field.number(),
                kind: FieldKind::Plain,
            });
        }
        Some(union_impls(&self.options.rpc, &item.ident, super::rename::original(oneof), &fields, None))
    }

    fn has_serde(&self, message: &str) -> bool {
        self.options.serde && !self.without_serde.contains(message)
    }
}

/// What prost's attribute on a field says of it.
#[derive(Default)]
struct ProstField {
    tags: Vec<i32>,
    oneof: bool,
}

fn prost_field(attrs: &[Attribute]) -> ProstField {
    let mut found = ProstField::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("prost")) {
        // what can not be read leaves the field without tags, and so out
        let _ = attr.parse_nested_meta(|meta| {
            let value = match meta.value() {
                Ok(value) => value.parse::<LitStr>()?.value(),
                Err(_) => return Ok(()),
            };
            if meta.path.is_ident("tag") || meta.path.is_ident("tags") {
                found.tags = value.split(',').filter_map(|tag| tag.trim().parse().ok()).collect();
            }
            found.oneof |= meta.path.is_ident("oneof");
            Ok(())
        });
    }
    found
}

fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Option"),
        _ => false,
    }
}

/// Removes the marks, and returns the most exact: that of a message is on all that it holds.
fn take_mark(attrs: &mut Vec<Attribute>) -> Option<String> {
    let marks: Vec<String> =
        attrs.iter().filter(|attr| attr.path().is_ident(MARK)).filter_map(text_value).collect();
    attrs.retain(|attr| !attr.path().is_ident(MARK));
    marks.into_iter().max_by_key(String::len)
}

fn text_value(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Makes comments harmless.
fn tidy(attrs: &mut Vec<Attribute>) {
    let lines: Vec<String> =
        attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(text_value).collect();
    if lines.is_empty() {
        return;
    }
    attrs.retain(|attr| !attr.path().is_ident("doc"));
    let text = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let docs = docs([Some(text.as_str())]);
    let parsed: Result<syn::ItemStruct, _> = syn::parse2(quote!(#docs struct Documented;));
    if let Ok(parsed) = parsed {
        attrs.splice(0..0, parsed.attrs);
    }
}

/// The names of the types that a file declares at its top.
pub(super) fn type_names(items: &[Item]) -> impl Iterator<Item = &Ident> {
    items.iter().filter_map(|item| match item {
        Item::Struct(found) => Some(&found.ident),
        Item::Enum(found) => Some(&found.ident),
        _ => None,
    })
}

/// A type as prost-build writes it, seen from a module below the one it was written for.
pub(super) fn from_below(ty: &str) -> Option<TokenStream> {
    let parsed: Type = syn::parse_str(ty).ok()?;
    let relative = match &parsed {
        Type::Path(path) => {
            let plain = ["bool", "f32", "f64", "i32", "i64", "u32", "u64"];
            path.path.leading_colon.is_none()
                && path.path.segments.first().is_none_or(|first| first.ident != "crate")
                && !plain.iter().any(|plain| path.path.is_ident(plain))
        }
        _ => false,
    };
    Some(if relative { quote!(super::#parsed) } else { quote!(#parsed) })
}

/// A type as prost-build writes it.
pub(super) fn parse_type(ty: &str) -> Option<TokenStream> {
    let parsed: Type = syn::parse_str(ty).ok()?;
    Some(quote!(#parsed))
}
