//! A client transport that keeps many connections to one peer and has one exchange at a time on each.
//!
//! The task that makes a call drives the connection itself: it takes one from the shelf, writes, reads until the answer is
//! there, and puts it back. There is no task per connection, no channel, and no allocation per call.
//!
//! ```text
//!              take                    answered, and clean
//!   idle ────────────► one exchange ──────────────────────► the call that waits longest, else idle
//!    │ ▲                    │
//!    │ └─ dialled           └ late, given up, out of step: closed
//!    └ no traffic, or the peer closed it: closed
//! ```
//!
//! - `transport`: [`Pool`], the tower service.
//! - `call`: the future of one call.
//! - `connection`: one connection, and the exchange on it.
//! - `read_buffer`: the memory that connections read into, which those that wait for their peer do not hold.
//! - `shelf`: which connections there are, who waits, and when to dial; a state machine without a clock.
//! - `shared`: the shelf behind its lock, and the tasks around it: dialling, and closing what nobody uses.

mod call;
mod config;
mod connection;

mod read_buffer;
mod shared;
mod shelf;
mod transport;

pub use call::CallFuture;
pub use config::PoolConfig;
pub use transport::{Pool, PoolGauges, connect, connect_with, lazy};
