//! serde impls, written here rather than derived, since derived ones mix up maps keyed by id. What is common to all types is
//! in `serde_support` of the facade.

use super::Generator;
use super::fields::{Fields, RustField};
use super::names::Place;
use super::unions::Variant;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

impl Generator<'_> {
    pub(super) fn serde_struct(&self, fields: &Fields, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let (name, wire) = (&fields.ident, &fields.wire);
        let [serializer, source] = ["S", "S"].map(|want| self.names.generic(place, want));
        let count = fields.fields.len();
        let written = fields.fields.iter().map(|field| {
            let RustField { ident, wire, .. } = field;
            quote! {
                #rpc::codegen::serde::ser::SerializeStruct::serialize_field(&mut fields, #wire, &self.#ident)?;
            }
        });
        let table = fields.fields.iter().map(|field| self.table_entry(&field.wire, field.id, field.required));
        let names = fields.fields.iter().map(|field| &field.wire);
        let read = fields.fields.iter().enumerate().map(|(index, field)| {
            let index = Literal::usize_unsuffixed(index);
            let ident = &field.ident;
            let fill = if field.optional { quote!(fill_some) } else { quote!(fill) };
            quote!(#index => source.#fill(&mut self.#ident),)
        });
        let deserialize = self.deserialize(name, &quote!(deserialize_struct), place);
        quote! {
            impl #rpc::codegen::serde::Serialize for #name {
                fn serialize<#serializer: #rpc::codegen::serde::Serializer>(
                    &self,
                    serializer: #serializer,
                ) -> ::core::result::Result<#serializer::Ok, #serializer::Error> {
                    let mut fields = serializer.serialize_struct(#wire, #count)?;
                    #(#written)*
                    #rpc::codegen::serde::ser::SerializeStruct::end(fields)
                }
            }

            impl #rpc::codegen::serde_support::SerdeStruct for #name {
                const NAME: &'static str = #wire;
                const FIELDS: &'static [#rpc::codegen::serde_support::Field] = &[#(#table),*];
                const NAMES: &'static [&'static str] = &[#(#names),*];

                fn set<'de, #source: #rpc::codegen::serde_support::Source<'de>>(
                    &mut self,
                    index: usize,
                    source: #source,
                ) -> ::core::result::Result<bool, #source::Error> {
                    match index {
                        #(#read)*
                        _ => ::core::result::Result::Ok(false),
                    }
                }
            }

            #deserialize
        }
    }

    /// `unknown` is the variant for fields that are not in the definition, if there is one.
    pub(super) fn serde_union(
        &self,
        name: &Ident,
        wire: &str,
        variants: &[Variant],
        unknown: Option<&Ident>,
        place: Place,
    ) -> TokenStream {
        let rpc = &self.rpc;
        let [serializer, source] = ["S", "S"].map(|want| self.names.generic(place, want));
        let written = variants.iter().map(|variant| {
            let Variant { ident, wire, .. } = variant;
            quote! {
                Self::#ident(value) => {
                    #rpc::codegen::serde::ser::SerializeMap::serialize_entry(&mut map, #wire, value)?;
                }
            }
        });
        let refused = unknown.map(|unknown| {
            quote! {
                Self::#unknown(_) => {
                    return ::core::result::Result::Err(
                        #rpc::codegen::serde_support::no_known_field(#wire),
                    );
                }
            }
        });
        let table = variants.iter().map(|variant| self.table_entry(&variant.wire, variant.id, false));
        let read = variants.iter().enumerate().map(|(index, variant)| {
            let index = Literal::usize_unsuffixed(index);
            let ident = &variant.ident;
            quote! {
                #index => ::core::result::Result::Ok(
                    #rpc::codegen::serde_support::Source::next(source)?.map(Self::#ident),
                ),
            }
        });
        let stand_in = match unknown {
            Some(unknown) => quote! {
                ::core::option::Option::Some(Self::#unknown(
                    <i16 as ::core::convert::TryFrom<i32>>::try_from(id).unwrap_or(0),
                ))
            },
            None => quote!(::core::option::Option::None),
        };
        let deserialize = self.deserialize(name, &quote!(deserialize_union), place);
        quote! {
            impl #rpc::codegen::serde::Serialize for #name {
                fn serialize<#serializer: #rpc::codegen::serde::Serializer>(
                    &self,
                    serializer: #serializer,
                ) -> ::core::result::Result<#serializer::Ok, #serializer::Error> {
                    let mut map = serializer.serialize_map(::core::option::Option::Some(1))?;
                    match self { #(#written)* #refused }
                    #rpc::codegen::serde::ser::SerializeMap::end(map)
                }
            }

            impl #rpc::codegen::serde_support::SerdeUnion for #name {
                const NAME: &'static str = #wire;
                const FIELDS: &'static [#rpc::codegen::serde_support::Field] = &[#(#table),*];

                fn read<'de, #source: #rpc::codegen::serde_support::Source<'de>>(
                    index: usize,
                    source: #source,
                ) -> ::core::result::Result<::core::option::Option<Self>, #source::Error> {
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

    /// An enum is its number.
    pub(super) fn serde_enum(&self, name: &Ident, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let [serializer, deserializer] = ["S", "D"].map(|want| self.names.generic(place, want));
        quote! {
            impl #rpc::codegen::serde::Serialize for #name {
                fn serialize<#serializer: #rpc::codegen::serde::Serializer>(
                    &self,
                    serializer: #serializer,
                ) -> ::core::result::Result<#serializer::Ok, #serializer::Error> {
                    serializer.serialize_i32(self.0)
                }
            }

            impl<'de> #rpc::codegen::serde::Deserialize<'de> for #name {
                fn deserialize<#deserializer: #rpc::codegen::serde::Deserializer<'de>>(
                    deserializer: #deserializer,
                ) -> ::core::result::Result<Self, #deserializer::Error> {
                    <i32 as #rpc::codegen::serde::Deserialize>::deserialize(deserializer).map(Self)
                }
            }
        }
    }

    fn deserialize(&self, name: &Ident, by: &TokenStream, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let deserializer = self.names.generic(place, "D");
        quote! {
            impl<'de> #rpc::codegen::serde::Deserialize<'de> for #name {
                fn deserialize<#deserializer: #rpc::codegen::serde::Deserializer<'de>>(
                    deserializer: #deserializer,
                ) -> ::core::result::Result<Self, #deserializer::Error> {
                    #rpc::codegen::serde_support::#by(deserializer)
                }
            }
        }
    }

    fn table_entry(&self, name: &str, id: i16, required: bool) -> TokenStream {
        let rpc = &self.rpc;
        let id = Literal::i16_unsuffixed(id);
        quote!(#rpc::codegen::serde_support::Field { name: #name, id: #id, required: #required })
    }
}
