//! Other projects' programs, called and calling.
//!
//! - `program`: starting them.
//! - `service`, `way`: our side of the service that they speak, in every way that Thrift's messages travel.
//! - `hop`: the service for peers that know TTHeader, or Protobuf.
//! - `peers`: a file each.
//! - `matrix`: all of them, as a table.

pub mod hop;
pub mod matrix;
pub mod peers;
pub mod program;
pub mod service;
pub mod way;

#[allow(missing_docs, reason = "generated")]
pub mod idl {
    rpc::include_idl!();
}
