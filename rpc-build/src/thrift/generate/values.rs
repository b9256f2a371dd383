//! Constants and default values as Rust expressions.

use super::super::model::{
    Constant, Definition, Field, Requiredness, Struct, StructKind, Type, TypeId, TypeKind, Value,
};
use super::Generator;
use super::names::Place;
use super::types::Mode;
use crate::emit::{docs, ident};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

impl Generator<'_> {
    /// A `const` where the value can be one; text and binary are borrowed then. Containers and structs are made at first
    /// use.
    pub(super) fn constant(&self, constant: &Constant, name: &str, place: Place) -> TokenStream {
        let name = ident(name);
        let doc = docs([constant.head.docs.as_deref()]);
        match &constant.value {
            Value::String(text) => quote!(#doc pub const #name: &str = #text;),
            Value::Binary(bytes) => {
                let bytes = Literal::byte_string(bytes);
                quote!(#doc pub const #name: &[u8] = #bytes;)
            }
            value => {
                let ty = self.ty(&constant.ty, Mode::Plain, place);
                let expr = self.value(value, &constant.ty, Mode::Plain, place);
                match value {
                    Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Struct(..) => quote! {
                        #doc
                        pub static #name: ::std::sync::LazyLock<#ty> = ::std::sync::LazyLock::new(|| #expr);
                    },
                    _ => quote!(#doc pub const #name: #ty = #expr;),
                }
            }
        }
    }

    /// A value of a type.
    pub(super) fn value(&self, value: &Value, ty: &Type, mode: Mode, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let ty = self.model.resolve(ty);
        match value {
            Value::Bool(value) => quote!(#value),
            Value::Int(value) => integer(*value),
            Value::Double(value) => {
                let value = double(*value);
                if mode == Mode::Key { quote!(#rpc::codegen::thrift::Double(#value)) } else { value }
            }
            Value::String(text) => quote!(::std::borrow::ToOwned::to_owned(#text)),
            Value::Binary(bytes) => {
                let bytes = Literal::byte_string(bytes);
                quote!(#rpc::codegen::bytes::Bytes::from_static(#bytes))
            }
            Value::Uuid(bytes) => {
                let bytes = bytes.iter().map(|byte| Literal::u8_unsuffixed(*byte));
                quote!(#rpc::codegen::thrift::Uuid([#(#bytes),*]))
            }
            Value::Enum(id, index) => {
                let path = self.named(*id, place);
                let name = ident(&self.enum_names(*id)[*index]);
                quote!(#path::#name)
            }
            Value::List(values) => {
                let TypeKind::List(element) = &ty.kind else {
                    return quote!(::core::default::Default::default());
                };
                let values = values.iter().map(|value| self.value(value, element, mode, place));
                quote!(::std::vec![#(#values),*])
            }
            Value::Set(values) => {
                let TypeKind::Set(element) = &ty.kind else {
                    return quote!(::core::default::Default::default());
                };
                let values = values.iter().map(|value| self.value(value, element, Mode::Key, place));
                collected(values)
            }
            Value::Map(pairs) => {
                let TypeKind::Map(key, value) = &ty.kind else {
                    return quote!(::core::default::Default::default());
                };
                collected(pairs.iter().map(|(k, v)| {
                    let (k, v) = (self.value(k, key, Mode::Key, place), self.value(v, value, mode, place));
                    quote!((#k, #v))
                }))
            }
            Value::Struct(id, given) => self.struct_value(*id, given, place),
        }
    }

    /// What a field holds when nothing is said: its default, without the `Option` of an optional field. `None` if that is
    /// the default of its type.
    pub(super) fn field_default(&self, field: &Field, mode: Mode, place: Place) -> Option<TokenStream> {
        let value = self.value(field.default.as_ref()?, &field.ty, mode, place);
        Some(if field.boxed { quote!(::std::boxed::Box::new(#value)) } else { value })
    }

    fn struct_value(&self, id: TypeId, given: &[(usize, Value)], place: Place) -> TokenStream {
        let path = self.named(id, place);
        let Definition::Struct(definition) = &self.model.type_def(id).definition else {
            return quote!(::core::default::Default::default());
        };
        let names = self.field_names(id);
        let values = given.iter().map(|(index, value)| {
            let field = &definition.fields[*index];
            let value = self.value(value, &field.ty, self.mode_of(id), place);
            let value = if field.boxed { quote!(::std::boxed::Box::new(#value)) } else { value };
            (ident(&names[*index]), field, value)
        });
        if definition.kind == StructKind::Union {
            let variant = values.map(|(name, _, value)| quote!(#path::#name(#value))).next();
            return variant.unwrap_or_else(|| quote!(::core::default::Default::default()));
        }
        let fields = values.map(|(name, field, value)| {
            let value = if is_optional(definition, field) {
                quote!(::core::option::Option::Some(#value))
            } else {
                value
            };
            quote!(#name: #value)
        });
        let rest = if given.len() < definition.fields.len() {
            Some(quote!(..::core::default::Default::default()))
        } else {
            // the default of a struct that is given in full need not be finite
            self.unknown_field(id).map(|unknown| quote!(#unknown: ::core::default::Default::default()))
        };
        quote!(#path { #(#fields,)* #rest })
    }
}

/// Whether a field of a struct is an `Option`. One that is boxed has no other finite default, unless it is required.
pub(super) fn is_optional(of: &Struct, field: &Field) -> bool {
    of.kind != StructKind::Union
        && (field.requiredness == Requiredness::Optional
            || (field.requiredness == Requiredness::Default && field.boxed))
}

fn collected(items: impl Iterator<Item = TokenStream>) -> TokenStream {
    // from a vector, since an array of many would stand on the stack
    quote!(::core::iter::FromIterator::from_iter(::std::vec![#(#items),*]))
}

fn integer(value: i64) -> TokenStream {
    let magnitude = Literal::u64_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#magnitude) } else { quote!(#magnitude) }
}

fn double(value: f64) -> TokenStream {
    // the shortest form that reads back as the same value: `1e300`, not three hundred digits
    let text = format!("{:?}", value.abs());
    let magnitude = text.parse().unwrap_or_else(|_| Literal::f64_unsuffixed(value.abs()));
    if value.is_sign_negative() { quote!(-#magnitude) } else { quote!(#magnitude) }
}
