//! What stands around a payload: which method, how long, with which metadata, and how it ended. Plain structs; each
//! framing spells them in its own way.
//!
//! - `name`: names as they stand on the wire.
//! - `method`: a method of a service definition, as a type.
//! - `metadata`: a short list of pairs.
//! - `head`: the heads of requests and responses.

mod head;
mod metadata;
mod method;
mod name;
#[cfg(feature = "serde")]
mod never_serde;

pub use head::{Origin, Request, RequestHead, Response, ResponseHead};
pub use metadata::{Metadata, Scope, Value};
pub use method::{Method, Never, Outcome, Shape};
pub use name::Name;
