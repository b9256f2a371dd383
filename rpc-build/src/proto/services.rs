//! Services.

use super::File;
use super::compile::locate;
use super::types::{from_below, parse_type};
use crate::emit::{CLIENT_RESERVED, Method, Options, Request, Service, ident, unused};
use crate::naming::{Kind, assign};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;

/// The numbers by which a descriptor's source information finds services, and the methods in them.
const SERVICES: i32 = 6;
const METHODS: i32 = 2;

/// Names that the types and modules of a package have.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) types: HashSet<String>,
    pub(super) modules: HashSet<String>,
}

/// The services of a file, for its package's module.
pub(super) fn services(
    file: &File,
    options: &Options,
    taken: &mut Taken,
    warnings: &mut Vec<String>,
) -> TokenStream {
    let services: Vec<TokenStream> = file
        .services
        .iter()
        .enumerate()
        .map(|(index, service)| service_tokens(file, index, service, options, taken, warnings))
        .collect();
    quote!(#(#services)*)
}

fn service_tokens(
    file: &File,
    index: usize,
    service: &prost_build::Service,
    options: &Options,
    taken: &mut Taken,
    warnings: &mut Vec<String>,
) -> TokenStream {
    let name = crate::naming::ident(&service.proto_name, Kind::Type);
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let trait_name = take(&mut taken.types, name.to_owned());
    let server = take(&mut taken.types, format!("{trait_name}Server"));
    let client = take(&mut taken.types, format!("{trait_name}Client"));
    let module = crate::naming::ident(&service.proto_name, Kind::Value);
    let module = format!("{}_methods", module.strip_prefix("r#").unwrap_or(&module));
    let module = take(&mut taken.modules, module);
    let mut unary = Vec::new();
    for (at, method) in service.methods.iter().enumerate() {
        if method.client_streaming || method.server_streaming {
            let path = [SERVICES, number(index), METHODS, number(at)];
            warnings.push(format!(
                "{}: `{}.{}` is a streaming method, which is not generated yet",
                locate(&file.descriptor, &path),
                service.proto_name,
                method.proto_name
            ));
        } else {
            unary.push(method);
        }
    }
    let names = assign(unary.iter().map(|method| method.proto_name.as_str()), Kind::Value, &CLIENT_RESERVED);
    let markers = assign(unary.iter().map(|method| method.proto_name.as_str()), Kind::Type, &[]);
    let rpc = &options.rpc;
    let methods = unary.iter().zip(names).zip(markers).filter_map(|((method, name), marker)| {
        let (request, response) = (&method.input_type, &method.output_type);
        Some(Method {
            docs: comments(&method.comments),
            attrs: match method.options.deprecated {
                Some(true) => quote!(#[deprecated]),
                _ => TokenStream::new(),
            },
            wire: method.proto_name.clone(),
            ident: ident(&name.ident),
            inherited: None,
            marker: ident(&marker.ident),
            oneway: false,
            args: vec![(ident("request"), parse_type(request)?)],
            request: Request::Message,
            response: parse_type(response)?,
            error: None,
            inner_types: [from_below(request)?, from_below(response)?, quote!(#rpc::Never)],
        })
    });
    let wire = match service.package.as_str() {
        "" => service.proto_name.clone(),
        package => format!("{package}.{}", service.proto_name),
    };
    let service = Service {
        rpc: rpc.clone(),
        docs: comments(&service.comments),
        wire,
        ident: ident(&trait_name),
        server: ident(&server),
        client: ident(&client),
        module: ident(&module),
        parent: None,
        methods: methods.collect(),
        items: TokenStream::new(),
        generics: ["T", "C", "S"].map(|want| unused(want, |name| taken.types.contains(name))),
    };
    service.tokens()
}

fn comments(comments: &prost_build::Comments) -> Option<String> {
    let lines: Vec<&str> = comments
        .leading
        .iter()
        .chain(&comments.trailing)
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The name, or with the lowest number from 2 that makes it new.
fn take(taken: &mut HashSet<String>, name: String) -> String {
    if taken.insert(name.clone()) {
        return name;
    }
    let mut number = 2u64;
    loop {
        let numbered = format!("{name}{number}");
        if taken.insert(numbered.clone()) {
            return numbered;
        }
        number += 1;
    }
}

fn number(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
