//! What the generators of both languages share: pieces of Rust, and the files that hold them.
//!
//! - `tokens`: names, comments and attributes as tokens.
//! - `service`: the trait, the server, the client and the method markers of one service.
//! - `serde_impls`: the serde impls of types.
//! - `output`: formatting, and files that are written only if they change.
//!
//! Generated code names everything by absolute paths, `::core`, `::std` and those under [`Config`](crate::Config)'s
//! crate path, so that it needs no prelude and no name of a schema can be in its way.

mod output;
mod serde_impls;
mod service;
mod tokens;

/// What the generators are told.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The path of the library in the generated code.
    pub(crate) rpc: proc_macro2::TokenStream,
    /// Whether types get serde impls.
    pub(crate) serde: bool,
    /// Whether Thrift structs and unions keep the fields that they do not know.
    pub(crate) keep_unknown: bool,
}

pub(crate) use output::Output;
pub(crate) use serde_impls::{FieldKind, SerdeField, enum_impls, struct_impls, union_impls};
pub(crate) use service::{CLIENT_RESERVED, Method, Request, Service, unused};
pub(crate) use tokens::{allow, docs, ident, parse_path};
