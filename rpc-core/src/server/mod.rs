//! The server's end of the stack.
//!
//! - `context`: what a handler knows of its call.
//! - `caller`: how a handler calls its caller.
//! - `method_table`: handlers with the codec around them.
//! - `router`: services to a table, and requests to their handlers.
//! - `dispatch`: where a handler runs.

mod caller;
mod context;
mod dispatch;
mod method_table;
mod router;

pub use caller::Caller;
pub use context::{Context, Finished};
pub use dispatch::{Dispatch, Executor, RouteFuture};
pub use method_table::{BoxFuture, MethodTable, NamedService};
pub use router::{Accepts, Router, Routes};
