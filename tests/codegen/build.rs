//! Generates the code that the tests use.

fn main() -> Result<(), rpc_build::Error> {
    rpc_build::compile(["idl/hello.thrift", "idl/hello.proto"])
}
