//! Sockets, and the server that stands on them.
//!
//! - `connect`: [`Connect`], what dials an endpoint; `dialer` is the one for TCP, Unix sockets and host names.
//! - `stream`: the sockets.
//! - `backoff`: how long to wait between attempts to connect.
//! - `dial_failure`: a failed attempt that many calls waited for.
//! - `waiting`: how many calls may wait for a transport.
//! - `io`: reading into buffers that idle connections do not hold, and writing what a protocol has.
//! - `serve`: one connection of a server; [`Serve`] is the contract, and every protocol of `rpc-wire` meets it.
//! - `server`: [`Server`]: listening, choosing the protocol by the first bytes, draining and cutting.
//!
//! Of the libraries only this crate names `tokio::net`.

mod backoff;
mod connect;
mod dial_failure;
mod dialer;
mod executor;
mod io;
mod listener;
mod serve;
mod server;
mod stream;
mod waiting;

pub use backoff::{Backoff, BackoffConfig};
pub use connect::Connect;
pub use dial_failure::DialFailure;
pub use dialer::{Dialer, SocketConfig};
pub use executor::TokioExecutor;
pub use io::{ConnectionTimer, closed_by_peer, poll_fill, poll_flush_buf, release_if_idle};
pub use serve::{Accepted, Handlers, Serve, reply};
pub use server::{Bound, Server, ServerConfig, ServerGauges, Service};
pub use stream::Stream;
pub use waiting::Waiting;
