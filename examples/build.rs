//! Generates the code of the examples.

fn main() -> Result<(), rpc_build::Error> {
    rpc_build::compile(["idl/hello.thrift", "idl/greet.proto"])
}
