//! From `.proto` files to Rust: protox reads them, prost-build makes the types, and the rest is ours.
//!
//! - `compile`: from paths to descriptors, with all errors of all files.
//! - `rename`: names that would be equal in Rust, told apart before prost-build sees them.
//! - `types`: what is added to prost-build's types: serde impls, and the mark of a message.
//! - `services`: services, in the terms of [`crate::emit`].
//! - `tree`: the tree of modules.
//!
//! A package is a module, `a.b_c` is `a::b_c`; files of a package share it. What a file without package declares is in a
//! module `no_package`. Google's well-known types are those of the crate `prost-types`; its wrappers are plain types.
//!
//! Differences to what prost-build does by itself: `bytes` fields are `Bytes`, slices of what was read. Messages that hold
//! well-known types other than wrappers and `Empty` have no serde impls, since those have none; they go over Protobuf
//! only. Streaming methods are left out, with a warning that names each.

mod compile;
mod rename;
mod services;
mod tree;
mod types;

use crate::emit::{Options, Output};
use crate::error::Error;
use compile::Compiled;
use prost_build::Module;
use prost_types::FileDescriptorProto;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;

/// A build that went well.
pub(crate) struct Report {
    /// The files that were read.
    pub(crate) read: Vec<PathBuf>,
    /// One line each.
    pub(crate) warnings: Vec<String>,
}

/// One file, as prost-build left it.
struct File {
    /// With the names of the schema.
    original: FileDescriptorProto,
    /// With names that are different in Rust.
    descriptor: FileDescriptorProto,
    requested: bool,
    /// The file's name without folder and extension.
    stem: String,
    items: Vec<syn::Item>,
    services: Vec<prost_build::Service>,
}

/// Adds a file for each requested schema, with all that it imports.
///
/// # Errors
/// What is wrong with the schemas.
pub(crate) fn generate(
    files: &[PathBuf],
    include_dirs: &[PathBuf],
    options: &Options,
    output: &mut Output,
) -> Result<Report, Error> {
    let mut compiled = compile::compile(files, include_dirs)?;
    let mut warnings = rename::rename(&mut compiled.files);
    let mut generated = run_prost(&compiled, options)?;
    types::complete(&mut generated, options);
    tree::write(&generated, options, output, &mut warnings)?;
    Ok(Report { read: compiled.read, warnings })
}

fn run_prost(compiled: &Compiled, options: &Options) -> Result<Vec<File>, Error> {
    let rpc = options.rpc.to_string().replace(' ', "");
    let services = Rc::new(RefCell::new(vec![Vec::new()]));
    let mut config = prost_build::Config::new();
    config
        .format(false)
        .bytes(["."])
        .prost_path(format!("{rpc}::codegen::prost"))
        .prost_types_path(format!("{rpc}::codegen::prost_types"))
        .service_generator(Box::new(Collector { files: Rc::clone(&services) }));
    types::mark(&mut config, &compiled.files);
    // a module a file, so that what came from which is known
    let module = |index: usize| Module::from_parts([format!("file{index}")]);
    let requests = compiled.files.iter().enumerate();
    let requests = requests.map(|(index, file)| (module(index), file.descriptor.clone())).collect();
    let texts = catch_unwind(AssertUnwindSafe(|| config.generate(requests)))
        .map_err(|_| Error::message("prost-build can not make Rust of these schemas; its message is above"))?
        .map_err(|error| Error::message(format!("prost-build: {error}")))?;
    let mut services = std::mem::take(&mut *services.borrow_mut()).into_iter();
    let files = compiled.files.iter().enumerate().map(|(index, file)| {
        let text = texts.get(&module(index)).map(String::as_str).unwrap_or_default();
        let parsed = syn::parse_file(text)
            .map_err(|error| Error::message(format!("prost-build wrote no Rust: {error}\n{text}")))?;
        Ok(File {
            original: file.original.clone(),
            descriptor: file.descriptor.clone(),
            requested: file.requested,
            stem: file.stem.clone(),
            items: parsed.items,
            services: services.next().unwrap_or_default(),
        })
    });
    files.collect()
}

/// Takes what prost-build knows of each file's services, and generates nothing yet: names have to be told apart first.
struct Collector {
    files: Rc<RefCell<Vec<Vec<prost_build::Service>>>>,
}

impl prost_build::ServiceGenerator for Collector {
    fn generate(&mut self, service: prost_build::Service, _: &mut String) {
        if let Some(last) = self.files.borrow_mut().last_mut() {
            last.push(service);
        }
    }

    fn finalize(&mut self, _: &mut String) {
        self.files.borrow_mut().push(Vec::new());
    }
}
