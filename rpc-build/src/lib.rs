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
//! What a schema becomes is said at the top of `thrift/generate/mod.rs` and of `proto/mod.rs`, and shown by what these
//! make of `hello.thrift`:
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
