//! Unions, and the exceptions of a method, which are laid out like one.

use super::super::model::{Field, Struct, TypeId};
use super::Generator;
use super::fields::deprecated;
use super::names::{Place, bare, take};
use crate::emit::{FieldKind, SerdeField, docs, ident, union_impls};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use std::collections::HashSet;

/// A field of a union as Rust sees it.
pub(super) struct Variant {
    pub(super) ident: Ident,
    pub(super) wire: String,
    pub(super) id: i16,
    /// With its box.
    pub(super) ty: TokenStream,
    pub(super) ttype: TokenStream,
    pub(super) head: TokenStream,
}

impl Generator<'_> {
    pub(super) fn variant(&self, field: &Field, name: &str, ty: TokenStream) -> Variant {
        let (doc, attrs) = (docs([field.head.docs.as_deref()]), deprecated(&field.head.annotations));
        Variant {
            ident: ident(name),
            wire: field.head.name.clone(),
            id: field.id,
            ty: if field.boxed { quote!(::std::boxed::Box<#ty>) } else { ty },
            ttype: self.ttype(&field.ty),
            head: quote!(#doc #attrs),
        }
    }

    pub(super) fn union(&self, id: TypeId, definition: &Struct, place: Place) -> TokenStream {
        let def = self.model.type_def(id);
        let name = ident(self.names.type_name(id));
        let wire = &def.head.name;
        let names = self.field_names(id);
        let mode = self.mode_of(id);
        let variants: Vec<Variant> = definition
            .fields
            .iter()
            .zip(names)
            .map(|(field, name)| self.variant(field, name, self.ty(&field.ty, mode, place)))
            .collect();
        let mut taken: HashSet<String> = names.iter().map(|name| bare(name).to_owned()).collect();
        let unknown = ident(&take(&mut taken, "Unknown".to_owned()));
        let declared = variants.iter().map(|variant| {
            let Variant { ident, ty, head, .. } = variant;
            quote!(#head #ident(#ty))
        });
        let default = match definition.default_variant.and_then(|index| definition.fields.get(index)) {
            None if self.keep_unknown => quote!(Self::#unknown(::core::default::Default::default())),
            None => quote!(Self::#unknown(0)),
            Some(field) => {
                let chosen = definition.default_variant.and_then(|index| variants.get(index));
                let variant = chosen.map(|variant| &variant.ident);
                let value = self.field_default(field, mode, place);
                let value = value.unwrap_or_else(|| quote!(::core::default::Default::default()));
                quote!(Self::#variant(#value))
            }
        };
        let rpc = &self.rpc;
        let other = if self.keep_unknown {
            quote! {
                /// What came is not in this definition. It can be written again, unless only its name came.
                #unknown(#rpc::codegen::thrift::UnknownFields)
            }
        } else {
            quote! {
                /// A field that this definition does not know: its id, or 0 where only its name came. It can be read and
                /// not be written.
                #unknown(i16)
            }
        };
        let (doc, attrs) = (docs([def.head.docs.as_deref()]), deprecated(&def.head.annotations));
        let derives = self.derives(id).tokens();
        let thrift = self.thrift_union(&name, wire, &variants, &unknown, place);
        let serde = self.serde.then(|| self.serde_union(&name, wire, &variants, Some(&unknown)));
        quote! {
            #doc #attrs
            #derives
            pub enum #name {
                #(#declared,)*
                #other,
            }

            impl ::core::default::Default for #name {
                fn default() -> Self { #default }
            }

            #thrift
            #serde
        }
    }

    pub(super) fn serde_union(
        &self,
        name: &Ident,
        wire: &str,
        variants: &[Variant],
        unknown: Option<&Ident>,
    ) -> TokenStream {
        let fields = variants.iter().map(|variant| SerdeField {
            ident: &variant.ident,
            name: &variant.wire,
            id: variant.id.into(),
            kind: FieldKind::Plain,
        });
        let content = if self.keep_unknown {
            quote!(::core::default::Default::default())
        } else {
            quote!(<i16 as ::core::convert::TryFrom<i32>>::try_from(id).unwrap_or(0))
        };
        let unknown = unknown.map(|unknown| (unknown, content));
        union_impls(&self.rpc, name, wire, &fields.collect::<Vec<_>>(), unknown)
    }

    fn thrift_union(
        &self,
        name: &Ident,
        wire: &str,
        variants: &[Variant],
        unknown: &Ident,
        place: Place,
    ) -> TokenStream {
        let rpc = &self.rpc;
        let [writer, reader] = ["W", "R"].map(|want| self.names.generic(place, want));
        let writes = variants.iter().map(|variant| variant.write_arm(rpc));
        let reads = variants.iter().map(|variant| {
            let Variant { ident, wire, ttype, .. } = variant;
            let id = Literal::i16_unsuffixed(variant.id);
            quote! {
                (#id, #ttype) => Self::#ident(
                    #rpc::codegen::thrift::ThriftValue::read(reader).map_err(|error| error.within(#wire))?,
                ),
            }
        });
        let empty = format!("union `{wire}` has no field that its definition knows");
        let none = format!("no field of union `{wire}` is set");
        let write_kept = self
            .keep_unknown
            .then(|| quote!(Self::#unknown(fields) if !fields.is_empty() => fields.write(writer)?,));
        let (none_yet, keep, other) = if self.keep_unknown {
            (
                quote!(let mut unknown: #rpc::codegen::thrift::UnknownFields = ::core::default::Default::default();),
                quote!(unknown.keep(field, reader)?;),
                quote!(known.or_else(|| (!unknown.is_empty()).then(|| Self::#unknown(unknown)))),
            )
        } else {
            (
                quote!(let mut unknown = ::core::option::Option::None;),
                quote! {
                    reader.skip(field.ttype)?;
                    unknown = ::core::option::Option::Some(Self::#unknown(field.id));
                },
                quote!(known.or(unknown)),
            )
        };
        let two = format!("more than one field of union `{wire}` is set");
        quote! {
            impl #rpc::codegen::thrift::ThriftValue for #name {
                const TTYPE: #rpc::codegen::thrift::TType = #rpc::codegen::thrift::TType::Struct;

                fn write<#writer: #rpc::codegen::thrift::ThriftWriter>(
                    &self,
                    writer: &mut #writer,
                ) -> ::core::result::Result<(), #rpc::EncodeError> {
                    writer.struct_begin()?;
                    match self {
                        #(#writes)*
                        #write_kept
                        Self::#unknown(_) => {
                            return ::core::result::Result::Err(#rpc::EncodeError::new(#empty));
                        }
                    }
                    writer.struct_end();
                    ::core::result::Result::Ok(())
                }

                fn read<#reader: #rpc::codegen::thrift::ThriftReader>(
                    reader: &mut #reader,
                ) -> ::core::result::Result<Self, #rpc::DecodeError> {
                    let mut known = ::core::option::Option::None;
                    #none_yet
                    reader.struct_begin()?;
                    while let ::core::option::Option::Some(field) = reader.field()? {
                        let value = match (field.id, field.ttype) {
                            #(#reads)*
                            _ => {
                                #keep
                                continue;
                            }
                        };
                        if known.replace(value).is_some() {
                            return ::core::result::Result::Err(#rpc::DecodeError::new(
                                #rpc::DecodeErrorKind::Malformed,
                                #two,
                            ));
                        }
                    }
                    #other.ok_or_else(|| {
                        #rpc::DecodeError::new(#rpc::DecodeErrorKind::Missing, #none)
                    })
                }
            }

            impl #rpc::codegen::thrift::ThriftStruct for #name {}
        }
    }
}

impl Variant {
    pub(super) fn write_arm(&self, rpc: &TokenStream) -> TokenStream {
        let Self { ident, wire, .. } = self;
        let id = Literal::i16_unsuffixed(self.id);
        quote! {
            Self::#ident(value) => #rpc::codegen::thrift::ThriftValue::write_field(value, #id, writer)
                .map_err(|error| error.within(#wire))?,
        }
    }
}
