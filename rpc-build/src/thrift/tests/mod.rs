//! The whole front end, on files in memory.

mod accepts;
mod disk;
mod hostile;
mod refuses;
mod rendered;
mod shapes;

use super::load::tests::Memory;
use super::model::{Definition, Enum, Method, Model, Service, Struct, TypeDef};
use super::{Checked, check_in};
use crate::error::Error;

const TORTURE: &str = include_str!("../../../testdata/torture.thrift");
const ECHO: &str = include_str!("../../../testdata/echo.thrift");
const SHARED: &str = include_str!("../../../testdata/shared.thrift");
const OTHER: &str = include_str!("../../../testdata/sub/other.thrift");

/// The files that the torture test needs, with a text of its own.
fn with_neighbours(text: &str) -> Memory {
    let mut files = Memory::new(&[("shared.thrift", SHARED), ("sub/other.thrift", OTHER)]);
    files.0.push(("a.thrift", text.as_bytes().to_vec()));
    files
}

fn check(files: &Memory) -> Result<Checked, Error> {
    check_in(files, &["a.thrift".into()], &[])
}

/// The model and the warnings of a text without errors.
fn accept(text: &str) -> (Model, Vec<String>) {
    let checked = check(&with_neighbours(text)).unwrap_or_else(|error| panic!("{error}"));
    let warnings = checked.warnings.iter().map(|warning| warning.one_line(&checked.sources)).collect();
    (checked.model, warnings)
}

/// All that is reported about a text with errors, one line each.
fn refuse(text: &str) -> Vec<String> {
    refuse_files(&with_neighbours(text))
}

fn refuse_files(files: &Memory) -> Vec<String> {
    let error = match check(files) {
        Ok(checked) => panic!("accepted, with warnings {:?}", checked.warnings),
        Err(error) => error,
    };
    error.diagnostics().iter().map(|found| found.one_line(error.sources())).collect()
}

fn type_def<'a>(model: &'a Model, name: &str) -> &'a TypeDef {
    model.types().iter().find(|found| found.head.name == name).unwrap()
}

fn structure<'a>(model: &'a Model, name: &str) -> &'a Struct {
    match &type_def(model, name).definition {
        Definition::Struct(found) => found,
        other => panic!("{name} is {other:?}"),
    }
}

fn enumeration<'a>(model: &'a Model, name: &str) -> &'a Enum {
    match &type_def(model, name).definition {
        Definition::Enum(found) => found,
        other => panic!("{name} is {other:?}"),
    }
}

fn service<'a>(model: &'a Model, name: &str) -> &'a Service {
    model.services().iter().find(|found| found.head.name == name).unwrap()
}

fn method<'a>(service: &'a Service, name: &str) -> &'a Method {
    service.methods.iter().find(|found| found.head.name == name).unwrap()
}
