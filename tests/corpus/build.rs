//! Compiles every schema of `idl`, each by itself, and writes down what there is to test: a file that is added to the folder is
//! all that a new trap takes.
//!
//! `corpus.rs` has a module for each schema and a function that returns the samples; `tests.rs` has a test for each schema.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    // new files have to be seen too
    println!("cargo::rerun-if-changed=idl");
    let (mut modules, mut samples, mut tests) = (String::new(), String::new(), String::new());
    for (file, stem, language) in schemas(Path::new("idl"))? {
        rpc_build::configure().warnings(false).out_dir(out.join(&stem)).compile([&file])?;
        writeln!(
            modules,
            "/// From `{stem}.{language}`.\npub mod {stem} {{ ::rpc::include_idl!(\"{stem}/{stem}.{language}\"); }}"
        )?;
        writeln!(tests, "#[test]\nfn {stem}() {{ check(\"{stem}\", \"{language}\"); }}")?;
        if language == "thrift" {
            for name in thrift_samples(&file)? {
                writeln!(samples, "Sample::thrift({stem:?}, {name:?}, &*{stem}::{name}),")?;
            }
        } else {
            for (kind, message, bytes) in proto_samples(&fs::read_to_string(&file)?) {
                writeln!(samples, "Sample::{kind}::<{stem}::{message}>({stem:?}, {message:?}, {bytes:?}),")?;
            }
        }
    }
    let list =
        format!("/// The samples of all schemas.\npub fn samples() -> Vec<Sample> {{ vec![{samples}] }}");
    fs::write(out.join("corpus.rs"), modules + &list)?;
    fs::write(out.join("tests.rs"), tests)?;
    Ok(())
}

/// A file, its name without the ending, and the ending.
type Schema = (PathBuf, String, String);

/// The schemas of a folder, by name.
fn schemas(folder: &Path) -> Result<Vec<Schema>, Box<dyn Error>> {
    let mut schemas = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if let (true, Some(stem), Some(language)) =
            (file.is_file(), file.file_stem().and_then(|stem| stem.to_str()), file.extension())
        {
            schemas.push((file.clone(), stem.to_owned(), language.to_string_lossy().into_owned()));
        }
    }
    schemas.sort();
    Ok(schemas)
}

/// The constants of a schema that are structs and called `SAMPLE`, or something that begins so.
fn thrift_samples(file: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let model = rpc_build::thrift::check(&[file.to_owned()], &[])?.model;
    let constants = model.constants().iter().filter(|constant| {
        model.module(constant.module).requested
            && constant.head.name.starts_with("SAMPLE")
            && model.as_struct(&constant.ty).is_some()
    });
    Ok(constants.map(|constant| constant.head.name.clone()).collect())
}

/// The lines `// sample Message 08 01` of a schema: what makes the sample, the message's path in Rust, and its bytes. With the
/// words `over Protobuf` behind, the message has no serde impls.
fn proto_samples(text: &str) -> Vec<(&'static str, &str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("// sample "));
    lines
        .map(|line| {
            let (kind, line) = match line.strip_suffix(" over Protobuf") {
                Some(line) => ("protobuf", line),
                None => ("proto", line),
            };
            let (message, bytes) = line.split_once(' ').unwrap_or((line, ""));
            (kind, message, bytes)
        })
        .collect()
}
