//! Services, in the terms of [`crate::emit::Service`], and what Thrift adds to it: a struct for the arguments of each
//! method, and two enums for the exceptions that a method declares.
//!
//! `greeter_methods::SayHelloException` has a variant for each exception: it is what a result can hold. `GreeterSayHelloError` has
//! these and `Other`, for all else that can go wrong: it is what callers get and handlers return.

use super::super::model::{Answer, Method as ModelMethod, ServiceId};
use super::Generator;
use super::fields::{Derives, Fields, deprecated};
use super::names::{MethodNames, Place, bare, take};
use super::types::Mode;
use super::unions::Variant;
use crate::emit::{Method, Request, Service, docs, ident};
use crate::naming::{Kind, assign};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use std::collections::HashSet;

impl Generator<'_> {
    pub(super) fn service(&self, id: ServiceId, place: Place) -> TokenStream {
        let definition = self.model.service(id);
        let names = self.names.service(id);
        let own = definition.methods.iter().zip(&names.methods);
        let items = own.clone().map(|(method, names)| self.method_items(method, names, place.node));
        let errors = own
            .filter(|(method, _)| !method.throws.is_empty())
            .map(|(method, method_names)| self.method_error(id, method, method_names, place));
        let service = Service {
            rpc: self.rpc.clone(),
            docs: definition.head.docs.clone(),
            wire: definition.head.name.clone(),
            ident: ident(self.names.trait_name(id)),
            server: ident(&names.server),
            client: ident(&names.client),
            module: ident(&names.module),
            parent: definition.parent.map(|parent| self.trait_path(parent, place)),
            methods: self.methods(id, place),
            items: quote!(#(#items)*),
            generics: ["T", "C", "S"].map(|want| self.names.generic(place, want)),
        };
        let service = service.tokens();
        quote! { #service #(#errors)* }
    }

    fn trait_path(&self, id: ServiceId, place: Place) -> TokenStream {
        let node = self.names.node_of(self.model.service(id).module);
        self.names.path(place, node, self.names.trait_name(id))
    }

    /// The path to an item in the module of a service.
    fn in_service(&self, id: ServiceId, name: &str, from: Place) -> TokenStream {
        let node = self.names.node_of(self.model.service(id).module);
        let module = self.names.path(from, node, &self.names.service(id).module);
        let name = ident(name);
        quote!(#module::#name)
    }

    fn methods(&self, id: ServiceId, place: Place) -> Vec<Method> {
        let rpc = &self.rpc;
        let inside = Place::service(place.node);
        let all = self.names.all_methods(self.model, id);
        // the types of inherited methods are this service's own, so they may meet names that the parent does not have
        let markers = assign(all.iter().map(|(_, method, _)| method.head.name.as_str()), Kind::Type, &[]);
        let own_items: HashSet<&str> = self
            .names
            .service(id)
            .methods
            .iter()
            .flat_map(|names| [names.marker.as_str(), names.args.as_str(), names.exception.as_str()])
            .map(bare)
            .collect();
        let mut taken: HashSet<String> = own_items.iter().map(|name| (*name).to_owned()).collect();
        all.iter()
            .zip(markers)
            .map(|((owner, method, names), marker)| {
                let inherited = (*owner != id).then(|| self.trait_path(*owner, place));
                let marker = match inherited {
                    None => ident(&names.marker),
                    Some(_) => ident(&take(&mut taken, marker.bare().to_owned())),
                };
                let arg_names = self.arg_names(method, place);
                let args = method.args.iter().zip(&arg_names);
                let args = args.map(|(field, name)| (ident(name), self.ty(&field.ty, Mode::Plain, place)));
                let response = |from| match &method.answer {
                    Answer::Value(ty) => self.ty(ty, Mode::Plain, from),
                    Answer::Void | Answer::None => quote!(()),
                };
                let error = (!method.throws.is_empty()).then(|| {
                    let node = self.names.node_of(self.model.service(*owner).module);
                    self.names.path(place, node, &names.error)
                });
                let exception = match error {
                    None => quote!(#rpc::Never),
                    Some(_) => self.in_service(*owner, &names.exception, inside),
                };
                Method {
                    docs: method.head.docs.clone(),
                    attrs: deprecated(&method.head.annotations),
                    wire: method.head.name.clone(),
                    ident: ident(&names.ident),
                    inherited,
                    marker,
                    oneway: method.answer == Answer::None,
                    args: args.collect(),
                    request: Request::Fields(
                        self.in_service(*owner, &names.args, place),
                        self.field_idents(method),
                    ),
                    response: response(place),
                    error,
                    inner_types: [self.in_service(*owner, &names.args, inside), response(inside), exception],
                }
            })
            .collect()
    }

    /// The parameters of a method: none is called like the context, or like a tuple struct of the module.
    fn arg_names(&self, method: &ModelMethod, place: Place) -> Vec<String> {
        let mut reserved: Vec<&str> = vec!["cx"];
        reserved.extend(self.names.types_of(place.node));
        let names = method.args.iter().map(|field| field.head.name.as_str());
        assign(names, Kind::Value, &reserved).into_iter().map(|name| name.ident).collect()
    }

    /// The fields of the struct of a method's arguments.
    fn field_idents(&self, method: &ModelMethod) -> Vec<Ident> {
        let names = method.args.iter().map(|field| field.head.name.as_str());
        assign(names, Kind::Value, &[]).iter().map(|name| ident(&name.ident)).collect()
    }

    /// The arguments and the exceptions of a method that the service declares itself.
    fn method_items(&self, method: &ModelMethod, names: &MethodNames, node: usize) -> TokenStream {
        let place = Place::service(node);
        let wire = &method.head.name;
        let fields = method.args.iter().zip(self.field_idents(method));
        let fields = Fields {
            ident: ident(&names.args),
            wire: format!("{wire}_args"),
            fields: fields
                .map(|(field, name)| self.rust_field(field, &name.to_string(), false, Mode::Plain, place))
                .collect(),
            unknown: None,
        };
        let doc = docs([Some(&*format!("The arguments of `{wire}`."))]);
        let args = self.declaration(&fields, Derives { eq: false, order: false }, place);
        let exceptions = (!method.throws.is_empty()).then(|| self.exceptions(method, names, place));
        quote! { #doc #args #exceptions }
    }

    /// The variants for a method's exceptions, named after their types.
    fn exception_variants(&self, method: &ModelMethod, place: Place) -> Vec<Variant> {
        let names = method.throws.iter().map(|field| match self.model.as_struct(&field.ty) {
            Some((id, _)) => self.model.type_def(id).head.name.as_str(),
            None => field.head.name.as_str(),
        });
        let names = assign(names, Kind::Type, &[]);
        let fields = method.throws.iter().zip(names);
        fields
            .map(|(field, name)| self.variant(field, &name.ident, self.ty(&field.ty, Mode::Plain, place)))
            .collect()
    }

    fn exceptions(&self, method: &ModelMethod, names: &MethodNames, place: Place) -> TokenStream {
        let rpc = &self.rpc;
        let wire = &method.head.name;
        let name = ident(&names.exception);
        let variants = self.exception_variants(method, place);
        let declared = variants.iter().map(|variant| {
            let Variant { ident, ty, head, .. } = variant;
            quote!(#head #ident(#ty))
        });
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
        let doc = docs([Some(&*format!("The exceptions that `{wire}` declares."))]);
        let serde =
            self.serde.then(|| self.serde_union(&name, &format!("{wire}_exception"), &variants, None));
        quote! {
            #doc
            #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
            pub enum #name { #(#declared),* }

            impl #rpc::codegen::thrift::ThriftException for #name {
                fn write_field<W: #rpc::codegen::thrift::ThriftWriter>(
                    &self,
                    writer: &mut W,
                ) -> ::core::result::Result<(), #rpc::EncodeError> {
                    match self { #(#writes)* }
                    ::core::result::Result::Ok(())
                }

                fn read_field<R: #rpc::codegen::thrift::ThriftReader>(
                    field: #rpc::codegen::thrift::FieldHeader,
                    reader: &mut R,
                ) -> ::core::result::Result<::core::option::Option<Self>, #rpc::DecodeError> {
                    ::core::result::Result::Ok(::core::option::Option::Some(match (field.id, field.ttype) {
                        #(#reads)*
                        _ => return ::core::result::Result::Ok(::core::option::Option::None),
                    }))
                }
            }

            #serde
        }
    }

    /// The error of a method with exceptions, for callers and handlers.
    fn method_error(
        &self,
        id: ServiceId,
        method: &ModelMethod,
        names: &MethodNames,
        place: Place,
    ) -> TokenStream {
        let rpc = &self.rpc;
        let name = ident(&names.error);
        let exception = self.in_service(id, &names.exception, place);
        let wire = format!("{}.{}", self.model.service(id).head.name, method.head.name);
        let variants = self.exception_variants(method, place);
        let mut taken: HashSet<String> =
            variants.iter().map(|variant| bare(&variant.ident.to_string()).to_owned()).collect();
        let other = ident(&take(&mut taken, "Other".to_owned()));
        let declared = variants.iter().map(|variant| {
            let Variant { ident, ty, head, .. } = variant;
            quote!(#head #ident(#ty))
        });
        let idents: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
        // two fields may have the same exception
        let mut seen = HashSet::new();
        let first_of_type = method
            .throws
            .iter()
            .zip(&variants)
            .filter(|(field, _)| self.model.as_struct(&field.ty).is_some_and(|(id, _)| seen.insert(id)));
        let from_each = first_of_type.map(|(_, Variant { ident, ty, .. })| {
            quote! {
                impl ::core::convert::From<#ty> for #name {
                    fn from(exception: #ty) -> Self { Self::#ident(exception) }
                }
            }
        });
        let doc = docs([Some(&*format!(
            "Why a call of `{wire}` failed: an exception that it declares, or all else."
        ))]);
        quote! {
            #doc
            #[derive(::core::fmt::Debug)]
            pub enum #name {
                #(#declared,)*
                /// No response came, or the peer's answer is none that the method declares.
                #other(#rpc::Error),
            }

            impl #name {
                /// What a result holds: a declared exception, or a status. Used by generated code.
                #[doc(hidden)]
                pub fn declared(self) -> ::core::result::Result<#exception, #rpc::Status> {
                    match self {
                        #(Self::#idents(exception) => ::core::result::Result::Ok(#exception::#idents(exception)),)*
                        Self::#other(error) => {
                            ::core::result::Result::Err(::core::convert::From::from(error))
                        }
                    }
                }
            }

            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    match self {
                        #(Self::#idents(exception) => ::core::fmt::Display::fmt(exception, f),)*
                        Self::#other(error) => ::core::fmt::Display::fmt(error, f),
                    }
                }
            }

            impl ::core::error::Error for #name {
                fn source(&self) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
                    match self {
                        #(Self::#idents(_) => ::core::option::Option::None,)*
                        Self::#other(error) => ::core::error::Error::source(error),
                    }
                }
            }

            #(#from_each)*

            impl ::core::convert::From<#exception> for #name {
                fn from(exception: #exception) -> Self {
                    match exception { #(#exception::#idents(exception) => Self::#idents(exception),)* }
                }
            }

            impl ::core::convert::From<#rpc::Error> for #name {
                fn from(error: #rpc::Error) -> Self { Self::#other(error) }
            }

            impl ::core::convert::From<#rpc::Status> for #name {
                fn from(status: #rpc::Status) -> Self { Self::#other(::core::convert::From::from(status)) }
            }

            /// For callers that tell no exception from another: a declared one is of the class unknown, with its text.
            impl ::core::convert::From<#name> for #rpc::Error {
                fn from(error: #name) -> Self {
                    match error {
                        #name::#other(error) => error,
                        declared => ::core::convert::From::from(#rpc::Status::unknown(
                            ::std::string::ToString::to_string(&declared),
                        )),
                    }
                }
            }

            /// For handlers that call on, in the same way.
            impl ::core::convert::From<#name> for #rpc::Status {
                fn from(error: #name) -> Self {
                    let error: #rpc::Error = ::core::convert::From::from(error);
                    ::core::convert::From::from(error)
                }
            }
        }
    }
}
