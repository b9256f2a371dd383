//! The Rust of one service, of whatever language: a trait to implement, a server that makes an implementation callable
//! in every codec that its types allow, a client, and a type for each method.

use super::tokens::{docs, ident};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// One service. Types and paths in it are as seen from the module that holds the trait.
pub(crate) struct Service {
    /// The path under which generated code finds the library.
    pub(crate) rpc: TokenStream,
    pub(crate) docs: Option<String>,
    /// The service's full name.
    pub(crate) wire: String,
    /// The trait.
    pub(crate) ident: Ident,
    pub(crate) server: Ident,
    pub(crate) client: Ident,
    /// The module of the method types.
    pub(crate) module: Ident,
    /// The trait of the service that this one extends.
    pub(crate) parent: Option<TokenStream>,
    /// All methods, inherited ones included.
    pub(crate) methods: Vec<Method>,
    /// Items that the module of the method types holds besides them.
    pub(crate) items: TokenStream,
    /// Names for type parameters that no type of the module has: of the implementation, the codec, the transport.
    pub(crate) generics: [Ident; 3],
}

/// One method of a service.
pub(crate) struct Method {
    pub(crate) docs: Option<String>,
    /// Attributes of the method.
    pub(crate) attrs: TokenStream,
    pub(crate) wire: String,
    pub(crate) ident: Ident,
    /// The trait that declares the method, if it is another service's.
    pub(crate) inherited: Option<TokenStream>,
    /// The method's own type, in the service's module.
    pub(crate) marker: Ident,
    pub(crate) oneway: bool,
    /// Names and types of the arguments.
    pub(crate) args: Vec<(Ident, TokenStream)>,
    pub(crate) request: Request,
    pub(crate) response: TokenStream,
    /// The error of a method with declared exceptions.
    pub(crate) error: Option<TokenStream>,
    /// The request, response and exception types, as seen from the module of the method types.
    pub(crate) inner_types: [TokenStream; 3],
}

/// How the arguments become one value.
pub(crate) enum Request {
    /// As the fields of a struct: its path and the fields, in the order of the arguments.
    Fields(TokenStream, Vec<Ident>),
    /// The one argument is it.
    Message,
}

/// Names that a client has for itself. A method of such a name gets a number.
pub(crate) const CLIENT_RESERVED: [&str; 4] = ["new", "with", "with_codec", "client"];

impl Service {
    /// All items of the service, for its module.
    pub(crate) fn tokens(&self) -> TokenStream {
        let (definition, server, client, markers) =
            (self.definition(), self.server_tokens(), self.client_tokens(), self.markers());
        quote! { #definition #server #client #markers }
    }

    fn definition(&self) -> TokenStream {
        let Self { rpc, ident, parent, .. } = self;
        let wire = &self.wire;
        let head =
            format!("What implements the service `{wire}`: each method may be written as an `async fn`.");
        let doc = docs([self.docs.as_deref(), Some(head.as_str())]);
        let implementation = &self.generics[0];
        let supertraits = match parent {
            Some(parent) => quote!(#parent),
            None => quote!(::core::marker::Send + ::core::marker::Sync + 'static),
        };
        let own = || self.methods.iter().filter(|method| method.inherited.is_none());
        let declared = own().map(|method| {
            let Method { ident, attrs, .. } = method;
            let doc = docs([method.docs.as_deref()]);
            let (names, types) = method.arguments();
            let output = method.handler_output(rpc);
            quote! {
                #doc #attrs
                fn #ident(&self, cx: &#rpc::Context #(, #names: #types)*)
                    -> impl ::core::future::Future<Output = #output> + ::core::marker::Send;
            }
        });
        let forwarded = own().map(|method| {
            let name = &method.ident;
            let (names, types) = method.arguments();
            let output = method.handler_output(rpc);
            quote! {
                fn #name(&self, cx: &#rpc::Context #(, #names: #types)*)
                    -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
                {
                    <#implementation as #ident>::#name(self, cx #(, #names)*)
                }
            }
        });
        quote! {
            #doc
            pub trait #ident: #supertraits { #(#declared)* }

            impl<#implementation: #ident> #ident for ::std::sync::Arc<#implementation> { #(#forwarded)* }
        }
    }

    fn server_tokens(&self) -> TokenStream {
        let Self { rpc, ident, server, module, .. } = self;
        let [implementation, codec, _] = &self.generics;
        let doc = docs([Some(&*format!(
            "Makes an implementation of [`{ident}`] callable: for a router. Clones share the implementation."
        ))]);
        let name = server.to_string();
        let codec_bounds = self.methods.iter().map(|method| {
            let marker = &method.marker;
            quote! {
                + #rpc::Decode<<#module::#marker as #rpc::Method>::Request>
                + #rpc::EncodeOutcome<
                    <#module::#marker as #rpc::Method>::Response,
                    <#module::#marker as #rpc::Method>::Exception,
                >
            }
        });
        let registered = self.methods.iter().map(|method| method.register(self));
        quote! {
            #doc
            pub struct #server<#implementation> {
                inner: ::std::sync::Arc<#implementation>,
            }

            impl<#implementation> #server<#implementation> {
                /// Serves `inner`.
                pub fn new(inner: #implementation) -> Self {
                    Self { inner: ::std::sync::Arc::new(inner) }
                }

                /// Serves what others hold as well.
                pub fn from_arc(inner: ::std::sync::Arc<#implementation>) -> Self {
                    Self { inner }
                }
            }

            impl<#implementation> ::core::clone::Clone for #server<#implementation> {
                fn clone(&self) -> Self {
                    Self { inner: ::core::clone::Clone::clone(&self.inner) }
                }
            }

            impl<#implementation> ::core::fmt::Debug for #server<#implementation> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#name).finish_non_exhaustive()
                }
            }

            impl<#implementation: #ident, #codec> #rpc::NamedService<#codec> for #server<#implementation>
            where
                #codec: #rpc::Codec #(#codec_bounds)*,
            {
                const NAME: &'static str = #module::NAME;

                fn register(&self, table: &mut #rpc::MethodTable<#codec>) {
                    #(#registered)*
                }
            }
        }
    }

    fn client_tokens(&self) -> TokenStream {
        let Self { rpc, client, wire, .. } = self;
        let [_, codec, transport] = &self.generics;
        let head = format!("Calls the service `{wire}`. Clones are cheap and share the transport.");
        let doc = docs([self.docs.as_deref(), Some(head.as_str())]);
        let methods = self.methods.iter().map(|method| method.call(self));
        quote! {
            #doc
            pub struct #client<#codec, #transport> {
                client: #rpc::Client<#codec, #transport>,
            }

            impl<#codec: #rpc::Codec, #transport: #rpc::Transport> #client<#codec, #transport> {
                /// A client over a plain transport, in the transport's codec.
                pub fn new(transport: #transport) -> Self
                where
                    #transport: #rpc::Speaks<Codec = #codec>,
                {
                    Self { client: #rpc::Client::new(transport) }
                }

                /// A client over any stack of tower layers.
                pub fn with_codec(codec: #codec, stack: #transport) -> Self {
                    Self { client: #rpc::Client::with_codec(codec, stack) }
                }

                /// The same client with other options for the calls that are made through it.
                #[must_use]
                pub fn with(&self, options: #rpc::CallOptions) -> Self {
                    Self { client: self.client.with(options) }
                }

                /// The client without types of its own.
                pub fn client(&self) -> &#rpc::Client<#codec, #transport> {
                    &self.client
                }

                #(#methods)*
            }

            impl<#codec, #transport> ::core::clone::Clone for #client<#codec, #transport>
            where
                #codec: ::core::clone::Clone,
                #transport: ::core::clone::Clone,
            {
                fn clone(&self) -> Self {
                    Self { client: ::core::clone::Clone::clone(&self.client) }
                }
            }

            impl<#codec: ::core::fmt::Debug, #transport> ::core::fmt::Debug for #client<#codec, #transport> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Debug::fmt(&self.client, f)
                }
            }
        }
    }

    fn markers(&self) -> TokenStream {
        let Self { rpc, module, wire, items, .. } = self;
        let doc =
            docs([Some(&*format!("The methods of the service `{wire}`, as types, and their arguments."))]);
        let markers = self.methods.iter().map(|method| {
            let Method { marker, wire, .. } = method;
            let doc = docs([Some(&*format!("The method `{wire}`."))]);
            let shape = ident(if method.oneway { "Oneway" } else { "Unary" });
            let place = ident(match method.request {
                Request::Fields(..) => "Arguments",
                Request::Message => "Message",
            });
            let [request, response, exception] = &method.inner_types;
            quote! {
                #doc
                #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
                pub enum #marker {}

                impl #rpc::Method for #marker {
                    const SERVICE: &'static str = NAME;
                    const NAME: &'static str = #wire;
                    const SHAPE: #rpc::Shape = #rpc::Shape::#shape;
                    const REQUEST: #rpc::Place = #rpc::Place::#place;
                    type Request = #request;
                    type Response = #response;
                    type Exception = #exception;
                }
            }
        });
        quote! {
            #doc
            pub mod #module {
                /// The service's full name.
                pub const NAME: &str = #wire;
                #(#markers)*
                #items
            }
        }
    }
}

impl Method {
    fn arguments(&self) -> (Vec<&Ident>, Vec<&TokenStream>) {
        self.args.iter().map(|(name, ty)| (name, ty)).unzip()
    }

    fn handler_output(&self, rpc: &TokenStream) -> TokenStream {
        let response = &self.response;
        match &self.error {
            Some(error) => quote!(::core::result::Result<#response, #error>),
            None => quote!(::core::result::Result<#response, #rpc::Status>),
        }
    }

    fn register(&self, service: &Service) -> TokenStream {
        let Self { ident, marker, .. } = self;
        let module = &service.module;
        let implementation = &service.generics[0];
        let owner = self.inherited.clone().unwrap_or_else(|| {
            let own = &service.ident;
            quote!(#own)
        });
        let arguments = match &self.request {
            Request::Fields(_, fields) => quote!(#(, request.#fields)*),
            Request::Message => quote!(, request),
        };
        // a handler's error may be a declared exception; what else it is, the caller gets as a status
        let outcome = match &self.error {
            None => quote!(outcome.map(::core::result::Result::Ok)),
            Some(error) => quote! {
                match outcome {
                    ::core::result::Result::Ok(response) => {
                        ::core::result::Result::Ok(::core::result::Result::Ok(response))
                    }
                    ::core::result::Result::Err(error) => {
                        #error::declared(error).map(::core::result::Result::Err)
                    }
                }
            },
        };
        quote! {
            let inner = ::core::clone::Clone::clone(&self.inner);
            table.unary::<#module::#marker, _, _>(move |cx, request| {
                let inner = ::core::clone::Clone::clone(&inner);
                async move {
                    let outcome = <#implementation as #owner>::#ident(&inner, &cx #arguments).await;
                    cx.finish::<#module::#marker>(#outcome)
                }
            });
        }
    }

    fn call(&self, service: &Service) -> TokenStream {
        let Self { ident, marker, response, attrs, .. } = self;
        let Service { rpc, module, .. } = service;
        let [_, codec, transport] = &service.generics;
        let (names, types) = self.arguments();
        let request = match &self.request {
            Request::Fields(path, fields) => quote!(&#path { #(#fields: #names),* }),
            Request::Message => quote!(&#(#names)*),
        };
        let marker = quote!(#module::#marker);
        let error = self.error.clone().unwrap_or_else(|| quote!(#rpc::Error));
        let (decode, body) = if self.oneway {
            (None, quote! { self.client.send::<#marker>(#request) })
        } else {
            let result = match &self.error {
                None => quote! {
                    ::core::result::Result::Ok(::core::result::Result::Ok(response)) => {
                        ::core::result::Result::Ok(response)
                    }
                    ::core::result::Result::Ok(::core::result::Result::Err(never)) => match never {},
                    ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
                },
                Some(_) => quote! {
                    ::core::result::Result::Ok(::core::result::Result::Ok(response)) => {
                        ::core::result::Result::Ok(response)
                    }
                    ::core::result::Result::Ok(::core::result::Result::Err(exception)) => {
                        ::core::result::Result::Err(::core::convert::From::from(exception))
                    }
                    ::core::result::Result::Err(error) => {
                        ::core::result::Result::Err(::core::convert::From::from(error))
                    }
                },
            };
            let body = quote! {
                #rpc::codegen::map(self.client.call::<#marker>(#request), |answer| match answer { #result })
            };
            (
                Some(quote!(+ #rpc::DecodeOutcome<
                    <#marker as #rpc::Method>::Response,
                    <#marker as #rpc::Method>::Exception,
                >)),
                body,
            )
        };
        let end = if self.oneway {
            "Sends the request; `Ok` means that its bytes were handed to a connection, no more."
        } else {
            "The request is encoded before this returns, so the future borrows nothing and can be spawned."
        };
        let doc = docs([self.docs.as_deref(), Some(end)]);
        quote! {
            #doc #attrs
            pub fn #ident(&self #(, #names: #types)*)
                -> impl ::core::future::Future<Output = ::core::result::Result<#response, #error>>
                    + ::core::marker::Send + 'static + use<#codec, #transport>
            where
                #codec: #rpc::Encode<<#marker as #rpc::Method>::Request> #decode,
            {
                #body
            }
        }
    }
}

/// The first of `want`, `want0`, `want1`, … that is not taken.
pub(crate) fn unused(want: &str, taken: impl Fn(&str) -> bool) -> Ident {
    if !taken(want) {
        return ident(want);
    }
    let mut number = 0u64;
    loop {
        let name = format_ident!("{want}{number}");
        if !taken(&name.to_string()) {
            return name;
        }
        number += 1;
    }
}
