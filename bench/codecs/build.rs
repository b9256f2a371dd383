//! Generates the types of `idl/complex.thrift` for this framework and for pilota. Apache's are in the tree, since their compiler
//! is a program of its own.

use std::error::Error;
use std::path::PathBuf;

use pilota_build::{IdlService, Output};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=idl/complex.thrift");
    rpc_build::compile(["idl/complex.thrift"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    pilota_build::Builder::thrift().ignore_unused(false).compile_with_config(
        vec![IdlService::from_path(PathBuf::from("idl/complex.thrift"))],
        Output::File(out.join("pilota.rs")),
    );
    Ok(())
}
