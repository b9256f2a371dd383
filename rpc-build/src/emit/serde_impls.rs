//! serde impls, written here rather than derived, since derived ones mix up maps keyed by id. What is common to all types is
//! in `serde_support` of the facade.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// A field of a struct or of a union.
pub(crate) struct SerdeField<'a> {
    /// In Rust: the field, or the variant.
    pub(crate) ident: &'a Ident,
    /// The name in the schema.
    pub(crate) name: &'a str,
    /// The id, 0 if it has none.
    pub(crate) id: i32,
    pub(crate) kind: FieldKind,
}

/// How a field is when there is no value for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// It may not be.
    Required,
    /// It keeps its default.
    Plain,
    /// It is an `Option`.
    Optional,
    /// It is an `Option` of a type that [`union_impls`] are for, and absent too if its content is unknown.
    Oneof,
}

/// The impls of a struct with fields in the order of declaration.
pub(crate) fn struct_impls(
    rpc: &TokenStream,
    ident: &Ident,
    name: &str,
    fields: &[SerdeField<'_>],
) -> TokenStream {
    let count = fields.len();
    let written = fields
        .iter()
        .map(|SerdeField { ident, name, .. }| quote!(fields.serialize_field(#name, &self.#ident)?;));
    let table = fields.iter().map(|field| table_entry(rpc, field));
    let names = fields.iter().map(|field| field.name);
    let read = fields.iter().enumerate().map(|(index, SerdeField { ident, kind, .. })| {
        let index = Literal::usize_unsuffixed(index);
        let fill = match kind {
            FieldKind::Required | FieldKind::Plain => quote!(fill),
            FieldKind::Optional => quote!(fill_some),
            FieldKind::Oneof => quote!(fill_oneof),
        };
        quote!(#index => source.#fill(&mut self.#ident),)
    });
    let deserialize = deserialize(rpc, ident, &quote!(deserialize_struct));
    quote! {
        impl #rpc::codegen::serde::Serialize for #ident {
            fn serialize<S: #rpc::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                use #rpc::codegen::serde::ser::SerializeStruct as _;
                let mut fields = serializer.serialize_struct(#name, #count)?;
                #(#written)*
                fields.end()
            }
        }

        impl #rpc::codegen::serde_support::SerdeStruct for #ident {
            const NAME: &'static str = #name;
            const FIELDS: &'static [#rpc::codegen::serde_support::Field] = &[#(#table),*];
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn set<'de, S: #rpc::codegen::serde_support::Source<'de>>(
                &mut self,
                index: usize,
                source: S,
            ) -> ::core::result::Result<bool, S::Error> {
                match index {
                    #(#read)*
                    _ => ::core::result::Result::Ok(false),
                }
            }
        }

        #deserialize
    }
}

/// The impls of an enum with a variant for each field. `unknown` is the variant for other fields, if there is one, and what it
/// holds for a number `id`.
pub(crate) fn union_impls(
    rpc: &TokenStream,
    ident: &Ident,
    name: &str,
    fields: &[SerdeField<'_>],
    unknown: Option<(&Ident, TokenStream)>,
) -> TokenStream {
    let written = fields.iter().map(|SerdeField { ident, name, .. }| {
        quote! {
            Self::#ident(value) => map.serialize_entry(#name, value)?,
        }
    });
    let refused = unknown.as_ref().map(|(unknown, _)| {
        quote! {
            Self::#unknown(_) => {
                return ::core::result::Result::Err(#rpc::codegen::serde_support::no_known_field(#name));
            }
        }
    });
    let table = fields.iter().map(|field| table_entry(rpc, field));
    let read = fields.iter().enumerate().map(|(index, SerdeField { ident, .. })| {
        let index = Literal::usize_unsuffixed(index);
        quote! {
            #index => ::core::result::Result::Ok(
                #rpc::codegen::serde_support::Source::next(source)?.map(Self::#ident),
            ),
        }
    });
    let stand_in = match unknown {
        Some((unknown, content)) => quote!(::core::option::Option::Some(Self::#unknown(#content))),
        None => quote!(::core::option::Option::None),
    };
    let deserialize = deserialize(rpc, ident, &quote!(deserialize_union));
    quote! {
        impl #rpc::codegen::serde::Serialize for #ident {
            fn serialize<S: #rpc::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                use #rpc::codegen::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(::core::option::Option::Some(1))?;
                match self { #(#written)* #refused }
                map.end()
            }
        }

        impl #rpc::codegen::serde_support::SerdeUnion for #ident {
            const NAME: &'static str = #name;
            const FIELDS: &'static [#rpc::codegen::serde_support::Field] = &[#(#table),*];

            fn read<'de, S: #rpc::codegen::serde_support::Source<'de>>(
                index: usize,
                source: S,
            ) -> ::core::result::Result<::core::option::Option<Self>, S::Error> {
                match index {
                    #(#read)*
                    _ => ::core::result::Result::Ok(::core::option::Option::None),
                }
            }

            fn unknown(id: i32) -> ::core::option::Option<Self> { #stand_in }
        }

        #deserialize
    }
}

/// The impls of a newtype of `i32`: its number.
pub(crate) fn enum_impls(rpc: &TokenStream, ident: &Ident) -> TokenStream {
    quote! {
        impl #rpc::codegen::serde::Serialize for #ident {
            fn serialize<S: #rpc::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_i32(self.0)
            }
        }

        impl<'de> #rpc::codegen::serde::Deserialize<'de> for #ident {
            fn deserialize<D: #rpc::codegen::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                <i32 as #rpc::codegen::serde::Deserialize>::deserialize(deserializer).map(Self)
            }
        }
    }
}

fn deserialize(rpc: &TokenStream, ident: &Ident, by: &TokenStream) -> TokenStream {
    quote! {
        impl<'de> #rpc::codegen::serde::Deserialize<'de> for #ident {
            fn deserialize<D: #rpc::codegen::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #rpc::codegen::serde_support::#by(deserializer)
            }
        }
    }
}

fn table_entry(rpc: &TokenStream, field: &SerdeField<'_>) -> TokenStream {
    let name = field.name;
    let id = Literal::i32_unsuffixed(field.id);
    let kind = if field.kind == FieldKind::Required { quote!(required) } else { quote!(plain) };
    quote!(#rpc::codegen::serde_support::Field::#kind(#name, #id))
}
