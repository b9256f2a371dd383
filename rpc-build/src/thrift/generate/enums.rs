//! Enums: open newtypes, since every number is legal on the wire.

use super::super::model::{Enum, TypeId};
use super::Generator;
use super::fields::deprecated;
use super::names::Place;
use crate::emit::{docs, enum_impls, ident};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use std::collections::HashSet;

impl Generator<'_> {
    pub(super) fn enumeration(&self, id: TypeId, definition: &Enum, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let def = self.model.type_def(id);
        let name = ident(self.names.type_name(id));
        let wire = &def.head.name;
        let (doc, attrs) = (docs([def.head.docs.as_deref()]), deprecated(&def.head.annotations));
        let values: Vec<(Ident, &str, TokenStream, TokenStream)> = definition
            .values
            .iter()
            .zip(self.enum_names(id))
            .map(|(value, name)| {
                let head = &value.head;
                let (doc, attrs) = (docs([head.docs.as_deref()]), deprecated(&head.annotations));
                (ident(name), head.name.as_str(), number(value.number), quote!(#doc #attrs))
            })
            .collect();
        let constants =
            values.iter().map(|(name, _, number, head)| quote!(#head pub const #name: Self = Self(#number);));
        // of several names of a number the first is shown
        let mut seen = HashSet::new();
        let first = definition.values.iter().map(|value| seen.insert(value.number));
        let names = values
            .iter()
            .zip(first)
            .filter(|(_, first)| *first)
            .map(|((_, wire, number, _), _)| quote!(#number => ::core::option::Option::Some(#wire),));
        let [writer, reader] = ["W", "R"].map(|want| self.names.generic(place, want));
        let serde = self.serde.then(|| enum_impls(rpc, &name));
        quote! {
            #doc #attrs
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::default::Default, ::core::cmp::PartialEq,
                ::core::cmp::Eq, ::core::cmp::PartialOrd, ::core::cmp::Ord, ::core::hash::Hash,
            )]
            pub struct #name(pub i32);

            impl #name {
                #(#constants)*

                /// The name of the value in its definition; `None` for a number that is not in it.
                pub const fn name(self) -> ::core::option::Option<&'static str> {
                    match self.0 {
                        #(#names)*
                        _ => ::core::option::Option::None,
                    }
                }
            }

            impl ::core::fmt::Debug for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    match self.name() {
                        ::core::option::Option::Some(name) => f.write_str(name),
                        ::core::option::Option::None => ::core::write!(f, "{}({})", #wire, self.0),
                    }
                }
            }

            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Debug::fmt(self, f)
                }
            }

            impl ::core::convert::From<i32> for #name {
                fn from(number: i32) -> Self { Self(number) }
            }

            impl ::core::convert::From<#name> for i32 {
                fn from(value: #name) -> Self { value.0 }
            }

            impl #rpc::codegen::thrift::ThriftValue for #name {
                const TTYPE: #rpc::codegen::thrift::TType = #rpc::codegen::thrift::TType::I32;

                fn write<#writer: #rpc::codegen::thrift::ThriftWriter>(
                    &self,
                    writer: &mut #writer,
                ) -> ::core::result::Result<(), #rpc::EncodeError> {
                    writer.i32(self.0);
                    ::core::result::Result::Ok(())
                }

                fn read<#reader: #rpc::codegen::thrift::ThriftReader>(
                    reader: &mut #reader,
                ) -> ::core::result::Result<Self, #rpc::DecodeError> {
                    reader.i32().map(Self)
                }
            }

            #serde
        }
    }
}

fn number(value: i32) -> TokenStream {
    let magnitude = Literal::u32_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#magnitude) } else { quote!(#magnitude) }
}
