//! One service definition, any codec, any transport. This crate is what applications depend on: its features choose the
//! codecs and the transports, and it re-exports the crates behind them.
//!
//! | feature | brings |
//! |---|---|
//! | `thrift` | `thrift`: Thrift payloads in binary and compact; `thrift::framed()`, `buffered()`, `ttheader()`, `family()` and the like |
//! | `thrift-apache` | `thrift::apache`: the same for types that Apache's own compiler generates |
//! | `protobuf` | `protobuf`: Protobuf payloads and `protobuf::kitex_framed()`, `kitex_ttheader()` |
//! | `msgpack` | `msgpack`: MessagePack payloads and `msgpack::rpc()` |
//! | `mux` | `mux`: many calls at once on each connection |
//! | `pool` | `pool`: one call at a time on each of many connections |
//! | `server` (default) | [`Server`], and `net` |
//! | `full` | all of them |
//!
//! Types from `.thrift` files need the feature `thrift`, those from `.proto` files `protobuf`, whatever codec carries them.
//!
//! Start at [`Server`] and [`Router`] to serve, at `mux::connect` or `pool::connect` and the generated client to call;
//! [`Context`] is what a handler knows of its call, [`CallOptions`] what one call asks for, [`Status`] and [`Error`] how calls
//! fail. In the build script, `rpc_build::compile(["idl/hello.thrift"])`.
//!
//! ```
//! # #[cfg(all(feature = "thrift", feature = "mux", feature = "server"))]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use rpc::{CallOptions, Client, Router, Server, mux, thrift};
//!
//! // What a generated client and server stand on:
//! let server = Server::new().accept(thrift::framed(), Router::new()).listen("127.0.0.1:0").await?;
//! let address = server.local_addr().ok_or("no address")?.to_string();
//! let serving = server.serve(); // to be spawned
//! let client = Client::new(mux::connect(address, thrift::framed()).await?);
//! let quick = client.with(CallOptions::new().timeout(std::time::Duration::from_millis(50)));
//! # let _ = (serving, quick);
//! # Ok(())
//! # }
//! ```
//!
//! A client stands on one transport, in one protocol: `GreeterClient::new(mux::connect("localhost:8888",
//! thrift::framed()).await?)`. A server accepts as many protocols as it likes on its port. What is generated from
//! `.thrift` and `.proto` files comes in by [`include_idl!`].

pub use bytes::{Bytes, BytesMut};
pub use rpc_core::layer::TraceLayer;
pub use rpc_core::*;

#[cfg(feature = "server")]
pub use rpc_net::{self as net, Server};

#[cfg(feature = "thrift")]
pub use codec_thrift as thrift;

#[cfg(feature = "msgpack")]
pub mod msgpack;

#[cfg(feature = "mux")]
pub use transport_mux as mux;

#[cfg(feature = "pool")]
pub use transport_pool as pool;

#[cfg(feature = "protobuf")]
pub mod protobuf;

pub use rpc_wire as wire;

#[doc(hidden)]
pub mod codegen;

mod macros;
