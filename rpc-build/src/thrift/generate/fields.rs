//! Structs, exceptions and argument lists: whatever has fields that can all be set.

use super::super::model::{Annotations, Field, Struct, StructKind, TypeId, TypeKind};
use super::Generator;
use super::names::{Place, bare, take};
use super::types::Mode;
use super::values::is_optional;
use crate::emit::{FieldKind, SerdeField, docs, ident, struct_impls};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// A struct as Rust sees it.
pub(super) struct Fields {
    pub(super) ident: Ident,
    /// The name in the schema.
    pub(super) wire: String,
    pub(super) fields: Vec<RustField>,
    /// The field for what the definition does not know, if there is one.
    pub(super) unknown: Option<Ident>,
}

pub(super) struct RustField {
    pub(super) ident: Ident,
    pub(super) wire: String,
    pub(super) id: i16,
    pub(super) required: bool,
    pub(super) optional: bool,
    /// With its box, without its `Option`.
    ty: TokenStream,
    ttype: TokenStream,
    fails: bool,
    default: Option<TokenStream>,
    head: TokenStream,
}

/// What can be derived beyond `Clone` and `PartialEq`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derives {
    pub(super) eq: bool,
    pub(super) order: bool,
}

impl Derives {
    pub(super) fn tokens(self) -> TokenStream {
        let eq = self.eq.then(|| quote!(::core::cmp::Eq,));
        let order =
            self.order.then(|| quote!(::core::cmp::PartialOrd, ::core::cmp::Ord, ::core::hash::Hash,));
        quote!(#[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, #eq #order)])
    }
}

/// `#[deprecated]`, where an annotation says so.
pub(super) fn deprecated(annotations: &Annotations) -> TokenStream {
    match annotations.get("deprecated") {
        None => TokenStream::new(),
        Some("" | "1" | "true") => quote!(#[deprecated]),
        Some(note) => quote!(#[deprecated(note = #note)]),
    }
}

impl Generator<'_> {
    pub(super) fn structure(&self, id: TypeId, definition: &Struct, place: Place) -> TokenStream {
        let def = self.model.type_def(id);
        let names = self.field_names(id);
        let fields = definition.fields.iter().zip(names).map(|(field, name)| {
            let optional = is_optional(definition, field);
            self.rust_field(field, name, optional, self.mode_of(id), place)
        });
        let fields = Fields {
            ident: ident(self.names.type_name(id)),
            wire: def.head.name.clone(),
            fields: fields.collect(),
            unknown: self.unknown_field(id),
        };
        let attrs = deprecated(&def.head.annotations);
        let doc = docs([def.head.docs.as_deref()]);
        let declaration = self.declaration(&fields, self.derives(id), place);
        let error = (definition.kind == StructKind::Exception).then(|| self.error_impls(&fields, definition));
        quote! { #doc #attrs #declaration #error }
    }

    /// What the field is called in which a struct keeps what its definition does not know; `None` if the build keeps nothing.
    pub(super) fn unknown_field(&self, id: TypeId) -> Option<Ident> {
        let mut taken = self.field_names(id).iter().map(|name| bare(name).to_owned()).collect();
        self.keep_unknown.then(|| ident(&take(&mut taken, "unknown_fields".to_owned())))
    }

    pub(super) fn derives(&self, id: TypeId) -> Derives {
        let facts = self.model.type_def(id).facts;
        Derives { eq: facts.key || !facts.floats, order: facts.key || !(facts.floats || facts.tables) }
    }

    pub(super) fn rust_field(
        &self,
        field: &Field,
        name: &str,
        optional: bool,
        mode: Mode,
        place: Place,
    ) -> RustField {
        let ty = self.ty(&field.ty, mode, place);
        let (doc, attrs) = (docs([field.head.docs.as_deref()]), deprecated(&field.head.annotations));
        RustField {
            ident: ident(name),
            wire: field.head.name.clone(),
            id: field.id,
            required: field.requiredness == super::super::model::Requiredness::Required,
            optional,
            ty: if field.boxed { quote!(::std::boxed::Box<#ty>) } else { ty },
            ttype: self.ttype(&field.ty),
            fails: self.fails(&field.ty),
            default: self.field_default(field, mode, place),
            head: quote!(#doc #attrs),
        }
    }

    /// The struct and its impls.
    pub(super) fn declaration(&self, fields: &Fields, derives: Derives, place: Place) -> TokenStream {
        let name = &fields.ident;
        let plain = fields.fields.iter().all(|field| field.default.is_none());
        let derived_default = plain.then(|| quote!(#[derive(::core::default::Default)]));
        let written_default = (!plain).then(|| fields.default_impl());
        let derives = derives.tokens();
        let declared = fields.fields.iter().map(|field| {
            let RustField { ident, head, .. } = field;
            let ty = field.full_type();
            quote!(#head pub #ident: #ty)
        });
        let kept = fields.unknown.as_ref().map(|unknown| {
            let rpc = &self.rpc;
            quote! {
                /// What came with this and is not in its definition.
                pub #unknown: #rpc::codegen::thrift::UnknownFields,
            }
        });
        let thrift = self.thrift_impl(fields, place);
        let serde = self.serde.then(|| fields.serde(&self.rpc));
        quote! {
            #derives
            #derived_default
            pub struct #name { #(#declared,)* #kept }
            #written_default
            #thrift
            #serde
        }
    }

    fn thrift_impl(&self, fields: &Fields, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let name = &fields.ident;
        let [writer, reader] = ["W", "R"].map(|want| self.names.generic(place, want));
        let mut by_id: Vec<&RustField> = fields.fields.iter().collect();
        by_id.sort_by_key(|field| field.id);
        let writes = by_id.iter().map(|field| field.write(rpc));
        let locals = fields.fields.iter().map(|field| {
            let local = field.local();
            quote!(let mut #local = ::core::option::Option::None;)
        });
        let arms = by_id.iter().map(|field| field.read_arm(rpc));
        let values = fields.fields.iter().map(|field| {
            let ident = &field.ident;
            let value = field.read_value(rpc, &fields.wire);
            quote!(#ident: #value)
        });
        let unknown = fields.unknown.as_ref();
        let write_kept = unknown.map(|unknown| quote!(self.#unknown.write(writer)?;));
        let kept = unknown.map(|_| quote!(let mut kept: #rpc::codegen::thrift::UnknownFields = ::core::default::Default::default();));
        let other = match unknown {
            Some(_) => quote!(kept.keep(field, reader)?),
            None => quote!(reader.skip(field.ttype)?),
        };
        let value_kept = unknown.map(|unknown| quote!(#unknown: kept));
        quote! {
            impl #rpc::codegen::thrift::ThriftValue for #name {
                const TTYPE: #rpc::codegen::thrift::TType = #rpc::codegen::thrift::TType::Struct;

                fn write<#writer: #rpc::codegen::thrift::ThriftWriter>(
                    &self,
                    writer: &mut #writer,
                ) -> ::core::result::Result<(), #rpc::EncodeError> {
                    writer.struct_begin()?;
                    #(#writes)*
                    #write_kept
                    writer.struct_end();
                    ::core::result::Result::Ok(())
                }

                fn read<#reader: #rpc::codegen::thrift::ThriftReader>(
                    reader: &mut #reader,
                ) -> ::core::result::Result<Self, #rpc::DecodeError> {
                    #(#locals)*
                    #kept
                    reader.struct_begin()?;
                    while let ::core::option::Option::Some(field) = reader.field()? {
                        match (field.id, field.ttype) {
                            #(#arms)*
                            _ => #other,
                        }
                    }
                    ::core::result::Result::Ok(Self { #(#values,)* #value_kept })
                }
            }

            impl #rpc::codegen::thrift::ThriftStruct for #name {}
        }
    }

    /// Exceptions are errors. A text field called `message` is what they say.
    fn error_impls(&self, fields: &Fields, definition: &Struct) -> TokenStream {
        let name = &fields.ident;
        let wire = &fields.wire;
        let message = definition.fields.iter().zip(&fields.fields).find(|(field, _)| {
            let is_text = matches!(self.model.resolve(&field.ty).kind, TypeKind::String);
            is_text && field.head.name.eq_ignore_ascii_case("message")
        });
        let body = match message {
            Some((_, field)) if !field.optional => {
                let field = &field.ident;
                quote!(::core::write!(f, "{}: {}", #wire, self.#field))
            }
            Some((_, field)) => {
                let field = &field.ident;
                quote! {
                    match &self.#field {
                        ::core::option::Option::Some(message) => ::core::write!(f, "{}: {}", #wire, message),
                        ::core::option::Option::None => ::core::fmt::Debug::fmt(self, f),
                    }
                }
            }
            None => quote!(::core::fmt::Debug::fmt(self, f)),
        };
        quote! {
            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #body }
            }

            impl ::core::error::Error for #name {}
        }
    }
}

impl Fields {
    fn serde(&self, rpc: &TokenStream) -> TokenStream {
        let fields = self.fields.iter().map(|field| SerdeField {
            ident: &field.ident,
            name: &field.wire,
            id: field.id.into(),
            kind: match (field.optional, field.required) {
                (true, _) => FieldKind::Optional,
                (false, true) => FieldKind::Required,
                (false, false) => FieldKind::Plain,
            },
        });
        struct_impls(rpc, &self.ident, &self.wire, &fields.collect::<Vec<_>>())
    }

    fn default_impl(&self) -> TokenStream {
        let name = &self.ident;
        let values = self.fields.iter().map(|field| {
            let ident = &field.ident;
            let value = match (&field.default, field.optional) {
                (Some(value), true) => quote!(::core::option::Option::Some(#value)),
                (Some(value), false) => value.clone(),
                (None, _) => quote!(::core::default::Default::default()),
            };
            quote!(#ident: #value)
        });
        let kept = self.unknown.as_ref().map(|unknown| quote!(#unknown: ::core::default::Default::default()));
        quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self { Self { #(#values,)* #kept } }
            }
        }
    }
}

impl RustField {
    fn full_type(&self) -> TokenStream {
        let ty = &self.ty;
        if self.optional { quote!(::core::option::Option<#ty>) } else { ty.clone() }
    }

    /// A variable for the field, which no other variable can be confused with.
    fn local(&self) -> Ident {
        format_ident!("field_{}", bare(&self.ident.to_string()))
    }

    fn write(&self, rpc: &TokenStream) -> TokenStream {
        let Self { ident, wire, .. } = self;
        let id = Literal::i16_unsuffixed(self.id);
        let within = self.fails.then(|| quote!(.map_err(|error| error.within(#wire))));
        let write = |value: TokenStream| quote!(#rpc::codegen::thrift::ThriftValue::write_field(#value, #id, writer)#within?;);
        if self.optional {
            let write = write(quote!(value));
            quote!(if let ::core::option::Option::Some(value) = &self.#ident { #write })
        } else {
            write(quote!(&self.#ident))
        }
    }

    fn read_arm(&self, rpc: &TokenStream) -> TokenStream {
        let Self { wire, ttype, .. } = self;
        let id = Literal::i16_unsuffixed(self.id);
        let local = self.local();
        quote! {
            (#id, #ttype) => {
                #local = ::core::option::Option::Some(
                    #rpc::codegen::thrift::ThriftValue::read(reader).map_err(|error| error.within(#wire))?,
                );
            }
        }
    }

    fn read_value(&self, rpc: &TokenStream, of: &str) -> TokenStream {
        let local = self.local();
        let default = self.default.as_ref();
        match (self.optional, self.required, default) {
            (true, _, None) => quote!(#local),
            (true, _, Some(value)) => quote!(#local.or_else(|| ::core::option::Option::Some(#value))),
            (false, false, None) => quote!(#local.unwrap_or_default()),
            (false, false, Some(value)) => quote!(#local.unwrap_or_else(|| #value)),
            (false, true, _) => {
                let missing = format!("missing required field `{of}.{}`", self.wire);
                quote! {
                    match #local {
                        ::core::option::Option::Some(value) => value,
                        ::core::option::Option::None => {
                            return ::core::result::Result::Err(#rpc::DecodeError::new(
                                #rpc::DecodeErrorKind::Missing,
                                #missing,
                            ));
                        }
                    }
                }
            }
        }
    }
}
