//! The Rust types of Thrift's types.
//!
//! | Thrift | Rust | inside of a key |
//! |---|---|---|
//! | `bool`, `i8` … `i64` | `bool`, `i8` … `i64` | the same |
//! | `double` | `f64` | `Double`, which has an order |
//! | `string`, `binary`, `uuid` | `String`, `Bytes`, `Uuid` | the same |
//! | `list<T>` | `Vec<T>` | the same |
//! | `set<T>`, `map<K, V>` | `HashSet<T>`, `HashMap<K, V>` | `BTreeSet<T>`, `BTreeMap<K, V>` |
//!
//! The element of a set and the key of a map are keys, with all that is in them: a struct that serves as one anywhere
//! has such types in its own fields. So everything in a key has `Eq`, `Hash` and `Ord`.

use super::super::model::{Definition, Type, TypeId, TypeKind};
use super::Generator;
use super::names::Place;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// Whether a type is inside of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Key,
}

impl Generator<'_> {
    /// The Rust type of a type, as seen from a place.
    pub(super) fn ty(&self, ty: &Type, mode: Mode, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        match &ty.kind {
            TypeKind::Bool => quote!(bool),
            TypeKind::I8 => quote!(i8),
            TypeKind::I16 => quote!(i16),
            TypeKind::I32 => quote!(i32),
            TypeKind::I64 => quote!(i64),
            TypeKind::Double if mode == Mode::Key => quote!(#rpc::codegen::thrift::Double),
            TypeKind::Double => quote!(f64),
            TypeKind::String => quote!(::std::string::String),
            TypeKind::Binary => quote!(#rpc::codegen::bytes::Bytes),
            TypeKind::Uuid => quote!(#rpc::codegen::thrift::Uuid),
            TypeKind::List(element) => {
                let element = self.ty(element, mode, place);
                quote!(::std::vec::Vec<#element>)
            }
            TypeKind::Set(element) => {
                let name = format_ident!("{}", if mode == Mode::Key { "BTreeSet" } else { "HashSet" });
                let element = self.ty(element, Mode::Key, place);
                quote!(::std::collections::#name<#element>)
            }
            TypeKind::Map(key, value) => {
                let name = format_ident!("{}", if mode == Mode::Key { "BTreeMap" } else { "HashMap" });
                let (key, value) = (self.ty(key, Mode::Key, place), self.ty(value, mode, place));
                quote!(::std::collections::#name<#key, #value>)
            }
            TypeKind::Named(id) => match &self.model.type_def(*id).definition {
                // the alias is of the plain type
                Definition::Typedef(target) if mode == Mode::Key && self.differs_as_key(target) => {
                    self.ty(target, mode, place)
                }
                _ => self.named(*id, place),
            },
        }
    }

    /// The path to a named type.
    pub(super) fn named(&self, id: TypeId, place: Place) -> TokenStream {
        let node = self.names.node_of(self.model.type_def(id).module);
        self.names.path(place, node, self.names.type_name(id))
    }

    /// The mode of a type's own fields.
    pub(super) fn mode_of(&self, id: TypeId) -> Mode {
        if self.model.type_def(id).facts.key { Mode::Key } else { Mode::Plain }
    }

    /// The variant of `TType` that stands for a type.
    pub(super) fn ttype(&self, ty: &Type) -> TokenStream {
        let rpc = &self.rpc;
        let name = match &self.model.resolve(ty).kind {
            TypeKind::Bool => "Bool",
            TypeKind::I8 => "I8",
            TypeKind::I16 => "I16",
            TypeKind::I32 => "I32",
            TypeKind::I64 => "I64",
            TypeKind::Double => "Double",
            TypeKind::String | TypeKind::Binary => "String",
            TypeKind::Uuid => "Uuid",
            TypeKind::List(_) => "List",
            TypeKind::Set(_) => "Set",
            TypeKind::Map(..) => "Map",
            TypeKind::Named(id) => match self.model.type_def(*id).definition {
                Definition::Enum(_) => "I32",
                _ => "Struct",
            },
        };
        let name = format_ident!("{name}");
        quote!(#rpc::codegen::thrift::TType::#name)
    }

    /// Whether writing a value can fail: numbers always fit.
    pub(super) fn fails(&self, ty: &Type) -> bool {
        match &self.model.resolve(ty).kind {
            TypeKind::Bool
            | TypeKind::I8
            | TypeKind::I16
            | TypeKind::I32
            | TypeKind::I64
            | TypeKind::Double
            | TypeKind::Uuid => false,
            TypeKind::Named(id) => !matches!(self.model.type_def(*id).definition, Definition::Enum(_)),
            _ => true,
        }
    }

    /// Whether the Rust type in a key is another than elsewhere. Structs are the same everywhere.
    fn differs_as_key(&self, ty: &Type) -> bool {
        match &self.model.resolve(ty).kind {
            TypeKind::Double | TypeKind::Set(_) | TypeKind::Map(..) => true,
            TypeKind::List(element) => self.differs_as_key(element),
            _ => false,
        }
    }
}
