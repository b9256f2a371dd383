//! Generates the code that the tests use. `codegen-2021` compiles the same, so the paths hold from its folder too.

fn main() -> Result<(), rpc_build::Error> {
    let schemas = [
        "collide.thrift",
        "echo.thrift",
        "extends_a.thrift",
        "extends_c.thrift",
        "hello.proto",
        "hello.thrift",
        "hostile.proto",
        "keys.thrift",
        "keywords.thrift",
        "newer.thrift",
        "no_package.proto",
        "older.thrift",
        "probe.thrift",
        "recursion.thrift",
        "shadow.thrift",
        "values.thrift",
    ];
    // names collide here on purpose
    let config = rpc_build::configure().warnings(false);
    config.compile(schemas.map(|schema| format!("../codegen/idl/{schema}")))?;
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    let kept = config.keep_unknown_fields(true).out_dir(std::path::Path::new(&out).join("kept"));
    kept.compile(["older", "probe", "values"].map(|schema| format!("../codegen/idl/{schema}.thrift")))
}
