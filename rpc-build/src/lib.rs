//! Code generation from `.thrift` and `.proto` files, for build scripts.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), rpc_build::Error> {
//!     rpc_build::compile(["idl/hello.thrift"])
//! }
//! ```
//!
//! No other program is needed: the `.thrift` language is read by [`thrift`], `.proto` by protox, with every error of all
//! files reported at once, each with its place. Files to read first: [`Config`], which is what build scripts use;
//! [`thrift::model`], which is what generators walk; [`naming`], which says what a name in a schema is called in Rust.
//! What these make of `hello.thrift`:
//!
//! ```text
//! pub struct HelloRequest { pub name: String }
//!
//! pub trait Greeter: Send + Sync + 'static {                  // to be implemented with `async fn`s
//!     fn say_hello(&self, cx: &rpc::Context, request: HelloRequest)
//!         -> impl Future<Output = Result<HelloReply, rpc::Status>> + Send;
//! }
//! GreeterServer::new(my_greeter)                              // for a router, in every codec that the types allow
//! GreeterClient::new(transport).say_hello(request).await?     // or `with_codec(codec, stack)`, `with(call_options)`
//! ```
//!
//! # What a type becomes
//!
//! | in `.thrift` | in Rust |
//! |---|---|
//! | struct, exception | a struct with public fields; a field is an `Option` if it is optional. All have a `Default`, from the schema's values |
//! | enum | a newtype of `i32` with a constant for each value, `Colour::RED`, since other numbers are legal on the wire |
//! | union | an enum with a variant for each field, and `Unknown(id)` for fields of newer schemas: a `match` needs an arm for it |
//! | map, set | `HashMap`, `HashSet`; inside of a key `BTreeMap`, `BTreeSet` |
//! | binary | `Bytes` |
//! | method with `throws` | `Result<_, ServiceMethodError>`: the service's name, the method's, `Error`. It has a variant for each type of exception, made by `.into()`, and `Other` for all else |
//! | method without | `Result<_, Status>` on the server, `Result<_, Error>` on the client |
//! | service that extends | a trait whose supertrait is the other's |
//!
//! Of a recursive type, a field that contains it without a container between is a `Box`. What comes from a peer is 64 levels deep at
//! most, and so is what can be sent. An application that links tens of thousands of values together has to take them apart itself,
//! `while let Some(next) = chain.next.take() { chain = *next; }`, since dropping them goes down by recursion. Names that are keywords of Rust, or that
//! would be equal, are changed as [`naming`] says, with a warning; the wire's names stay.
//!
//! Fields that a schema does not know are left out. [`Config::keep_unknown_fields`] makes Thrift's types keep them and write them
//! again.
//!
//! Messages of `.proto` files are what `prost` makes of them, with `Bytes` for `bytes`. A package is a module; what a file without
//! package declares is in a module `no_package`. Messages with well-known types other than wrappers and `Empty` go over Protobuf
//! alone. Streaming methods are left out, with a warning.
//!
//! Features: `thrift` and `proto`, one for each language, both on by default.

mod config;
#[cfg_attr(not(feature = "thrift"), allow(dead_code))]
pub mod diagnostic;
#[cfg_attr(not(all(feature = "thrift", feature = "proto")), allow(dead_code, unused_imports))]
mod emit;
mod error;
pub mod naming;
#[cfg(feature = "proto")]
mod proto;
#[cfg_attr(not(feature = "thrift"), allow(dead_code))]
pub mod source;
#[cfg(feature = "thrift")]
mod suggest;
#[cfg(feature = "thrift")]
pub mod thrift;

pub use config::{Config, compile, configure};
pub use error::Error;
