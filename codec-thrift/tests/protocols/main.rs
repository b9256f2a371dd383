//! Both protocols, through the traits that generated types go through.
#![allow(clippy::unwrap_used, reason = "tests")]

mod binary;
mod compact;
mod support;
mod unframed;
mod values;
