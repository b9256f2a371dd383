//! A client transport that keeps a few connections to one peer and puts many calls on each at once.
//!
//! A caller appends its request to the connection's output under a short lock and takes an id for it; one task a connection
//! writes what gathered, reads what comes, and wakes the callers. There is no channel and no task per call.
//!
//! - `transport`: [`Mux`], the tower service, and how a connection is chosen.
//! - `slot`: the place of one connection: idle, dialling or open, with the calls that wait for it.
//! - `connection`: a connection as calls see it.
//! - `call`: the future of one call.
//! - `driver`: the task of one connection.
//! - `serving`: the peer's calls, where the protocol lets either side call.

mod call;
mod config;
mod connection;
mod driver;
mod serving;
mod slot;
mod transport;

pub use call::CallFuture;
pub use config::MuxConfig;
pub use transport::{Mux, MuxGauges, connect, connect_serving, connect_with, lazy, lazy_serving};
