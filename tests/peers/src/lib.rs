//! What the tests with other projects' programs share: starting those programs, and our side of the service that they speak.

pub mod apache;
pub mod program;
pub mod service;

#[allow(missing_docs, reason = "generated")]
pub mod idl {
    rpc::include_idl!("echo");
}
