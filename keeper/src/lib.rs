//! A proxy in front of the members of a cluster, which hands calls of msgpack-rpc on without decoding their arguments: to any
//! member, to those that a parameter's hash names, or to all, whose answers it puts together. Jubatus's proxies do the same.
//!
//! ```text
//!            ┌─ routing: which members, by the method's name ─┐
//!  caller ──►│ Keeper: a tower service of bytes               ├──► member, member, …
//!         ◄──│ aggregate: one answer out of theirs            │◄──
//!            └────────────────────────────────────────────────┘
//! ```
//!
//! - `routing`: [`Methods`], what is done with each method.
//! - `ring`: which members a key belongs to.
//! - `members`: [`Members`], who can be replaced while calls go on.
//! - `aggregate`: one answer out of several.
//! - `keeper`: [`Keeper`], the service.
//! - `failure`: what callers are told when members fail.
#![warn(clippy::indexing_slicing)]

mod aggregate;
mod failure;
mod keeper;
mod members;
mod ring;
mod routing;

pub use aggregate::Aggregate;
pub use keeper::Keeper;
pub use members::Members;
pub use routing::{Methods, Routing};
