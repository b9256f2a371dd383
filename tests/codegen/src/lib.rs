//! What rpc-build generates, compiled under strict lints and used. The tests are in `tests/`.

/// From `hello.thrift`.
pub mod hello_thrift {
    rpc::include_idl!("hello.thrift");
}

/// From `hello.proto`.
pub mod hello_proto {
    rpc::include_idl!("hello.proto");
}
