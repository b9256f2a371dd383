//! What rpc-build generates, compiled under strict lints and used. The tests are in `tests/`.

/// From `hello.thrift`.
pub mod hello_idl {
    rpc::include_idl!("hello");
}
