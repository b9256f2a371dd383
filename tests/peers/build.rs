//! Generates the services that the peers of other projects speak.

fn main() -> Result<(), rpc_build::Error> {
    rpc_build::compile(["idl/echo.thrift", "idl/hop.thrift", "idl/hop.proto"])
}
