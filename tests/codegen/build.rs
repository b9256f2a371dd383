//! Generates the code that the tests use.

fn main() -> Result<(), rpc_build::Error> {
    // names collide here on purpose
    rpc_build::configure().warnings(false).compile([
        "idl/collide.thrift",
        "idl/echo.thrift",
        "idl/extends_a.thrift",
        "idl/extends_c.thrift",
        "idl/hello.proto",
        "idl/hello.thrift",
        "idl/hostile.proto",
        "idl/keys.thrift",
        "idl/keywords.thrift",
        "idl/no_package.proto",
        "idl/probe.thrift",
        "idl/recursion.thrift",
        "idl/shadow.thrift",
        "idl/values.thrift",
    ])
}
