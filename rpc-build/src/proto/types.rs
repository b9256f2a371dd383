//! What is added to the types that prost-build makes.
//!
//! Each type carries, while it is worked on, an attribute with its full name in the schema.

use super::File;
use super::compile::CompiledFile;
use crate::emit::{FieldKind, Options, SerdeField, docs, struct_impls, union_impls};
use proc_macro2::{Group, Ident, Literal, TokenStream, TokenTree};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, OneofDescriptorProto};
use quote::{ToTokens, quote};
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

/// Has prost-build write the full name on each message, each oneof and each enum.
pub(super) fn mark(config: &mut prost_build::Config, files: &[CompiledFile]) {
    let mut mark = |name: &str| {
        config.type_attribute(name, format!("#[{MARK} = \"{name}\"]"));
    };
    for file in files {
        let package = prefix(file.descriptor.package());
        file.descriptor.enum_type.iter().for_each(|found| mark(&format!("{package}.{}", found.name())));
        each_message(&file.descriptor.message_type, &package, &mut |name, message| {
            mark(name);
            let oneofs = message.oneof_decl.iter().map(OneofDescriptorProto::name);
            let enums = message.enum_type.iter().map(EnumDescriptorProto::name);
            oneofs.chain(enums).for_each(|inner| mark(&format!("{name}.{inner}")));
        });
    }
}

/// Adds the impls, and takes the marks away.
pub(super) fn complete(files: &mut [File], options: &Options) {
    let (mut messages, mut values) = (HashMap::new(), HashMap::new());
    for file in &*files {
        let package = prefix(file.descriptor.package());
        value_names(&file.descriptor.enum_type, &file.original.enum_type, &package, &mut values);
        each_pair(
            &file.descriptor.message_type,
            &file.original.message_type,
            &package,
            &mut |name, message| {
                let (renamed, original) = (&message.renamed.enum_type, &message.original.enum_type);
                value_names(renamed, original, name, &mut values);
                messages.insert(name.to_owned(), message);
            },
        );
    }
    let completer = Completer { without_serde: without_serde(&messages), messages, values, options };
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

/// Notes the values whose names were changed, for each enum that has such.
fn value_names(
    renamed: &[EnumDescriptorProto],
    original: &[EnumDescriptorProto],
    prefix: &str,
    values: &mut HashMap<String, HashMap<String, String>>,
) {
    for (renamed, original) in renamed.iter().zip(original) {
        let pairs = renamed.value.iter().zip(&original.value);
        let changed = pairs.filter(|(new, old)| new.name() != old.name());
        let changed: HashMap<String, String> =
            changed.map(|(new, old)| (new.name().to_owned(), old.name().to_owned())).collect();
        if !changed.is_empty() {
            values.insert(format!("{prefix}.{}", renamed.name()), changed);
        }
    }
}

/// The tokens with other texts in place of some.
fn with_texts(tokens: TokenStream, texts: &HashMap<String, String>) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let inner = with_texts(group.stream(), texts);
            TokenTree::Group(Group::new(group.delimiter(), inner))
        }
        TokenTree::Literal(literal) => {
            let text = syn::parse_str::<LitStr>(&literal.to_string()).ok();
            let other = text.and_then(|text| texts.get(&text.value()));
            TokenTree::Literal(other.map_or(literal, |other| Literal::string(other)))
        }
        other => other,
    });
    replaced.collect()
}

/// A message with the names it has in Rust, and with those of the schema.
struct Message {
    renamed: DescriptorProto,
    original: DescriptorProto,
}

fn each_pair(
    renamed: &[DescriptorProto],
    original: &[DescriptorProto],
    prefix: &str,
    visit: &mut impl FnMut(&str, Message),
) {
    for (renamed, original) in renamed.iter().zip(original) {
        let name = format!("{prefix}.{}", renamed.name());
        visit(&name, Message { renamed: renamed.clone(), original: original.clone() });
        each_pair(&renamed.nested_type, &original.nested_type, &name, visit);
    }
}

/// The messages that hold, directly or not, a well-known type that serde does not know.
fn without_serde(messages: &HashMap<String, Message>) -> HashSet<String> {
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
            let mut fields = message.renamed.field.iter().filter(is_message);
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
    messages: HashMap<String, Message>,
    without_serde: HashSet<String>,
    /// For enums with renamed values the names that these have, and those of the schema.
    values: HashMap<String, HashMap<String, String>>,
    options: &'a Options,
}

impl Completer<'_> {
    fn items(&self, items: &mut Vec<Item>) {
        let mut added = Vec::new();
        // the enums whose impls hold names that are not those of the schema
        let mut renamed = HashMap::new();
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
                    if let Some(values) = name.as_ref().and_then(|name| self.values.get(name)) {
                        renamed.insert(found.ident.clone(), values);
                    }
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
        // an impl stands behind its enum
        for item in &mut *items {
            if let Item::Impl(found) = item
                && let Type::Path(of) = &*found.self_ty
                && let Some(values) = of.path.get_ident().and_then(|ident| renamed.get(ident))
            {
                *item = Item::Verbatim(with_texts(item.to_token_stream(), values));
            }
        }
        items.extend(added.into_iter().map(Item::Verbatim));
    }

    fn message(&self, item: &syn::ItemStruct, name: Option<&str>) -> TokenStream {
        let rpc = &self.options.rpc;
        let ident = &item.ident;
        let known = name.and_then(|name| Some((name, self.messages.get(name)?)));
        let Some((_, message)) = known.filter(|(name, _)| self.has_serde(name)) else {
            return TokenStream::new();
        };
        let descriptor = &message.original;
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
            fields.push((index, SerdeField { ident, name, id, kind }));
        }
        fields.sort_by_key(|(index, _)| *index);
        let fields: Vec<SerdeField<'_>> = fields.into_iter().map(|(_, field)| field).collect();
        struct_impls(rpc, ident, descriptor.name(), &fields)
    }

    fn oneof(&self, item: &syn::ItemEnum, name: &str) -> Option<TokenStream> {
        let (message, oneof) = name.rsplit_once('.')?;
        let Message { renamed, original: descriptor } = self.messages.get(message)?;
        // the mark of a message is on the enums in it as well
        let index = renamed.oneof_decl.iter().position(|declared| declared.name() == oneof)?;
        let oneof = descriptor.oneof_decl.get(index)?.name();
        if !self.has_serde(message) {
            return None;
        }
        let mut fields = Vec::new();
        for variant in &item.variants {
            let tags = prost_field(&variant.attrs).tags;
            let field = descriptor.field.iter().find(|field| tags.contains(&field.number()))?;
            fields.push(SerdeField {
                ident: &variant.ident,
                name: field.name(),
                id: field.number(),
                kind: FieldKind::Plain,
            });
        }
        Some(union_impls(&self.options.rpc, &item.ident, oneof, &fields, None))
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
