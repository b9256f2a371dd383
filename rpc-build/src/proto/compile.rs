//! From paths to checked descriptors.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::source::SourceMap;
use miette::{GraphicalReportHandler, GraphicalTheme};
use prost_types::FileDescriptorProto;
use protox::Compiler;
use std::path::{Path, PathBuf};

/// Checked files.
pub(super) struct Compiled {
    /// All files, imported ones too, by name: the order in which they were asked for shows nowhere.
    pub(super) files: Vec<CompiledFile>,
    /// The paths that were read.
    pub(super) read: Vec<PathBuf>,
}

pub(super) struct CompiledFile {
    pub(super) descriptor: FileDescriptorProto,
    pub(super) requested: bool,
    pub(super) stem: String,
}

/// Reads and checks files. Each has to be in one of the folders, or beside what it imports.
pub(super) fn compile(files: &[PathBuf], include_dirs: &[PathBuf]) -> Result<Compiled, Error> {
    let folders = folders(files, include_dirs);
    let mut compiler = Compiler::new(&folders).map_err(|error| Error::message(render(&error)))?;
    compiler.include_imports(true).include_source_info(true);
    let mut sorted: Vec<&PathBuf> = files.iter().collect();
    sorted.sort();
    let mut found = Vec::new();
    for file in sorted {
        if let Err(error) = compiler.open_file(file) {
            let report = render(&error);
            // one imported file can spoil several
            if !found.contains(&report) {
                found.push(report);
            }
        }
    }
    if !found.is_empty() {
        let found = found.into_iter().map(Diagnostic::nowhere).collect();
        return Err(Error::new(found, SourceMap::default()));
    }
    let read = compiler.files().filter_map(|file| file.path()).map(Path::to_owned).collect();
    let requested: Vec<bool> = compiler.files().map(|file| !file.is_import()).collect();
    let descriptors = compiler.file_descriptor_set().file;
    let mut files: Vec<CompiledFile> = descriptors
        .into_iter()
        .zip(requested)
        .map(|(descriptor, requested)| {
            let stem = Path::new(descriptor.name()).file_stem().unwrap_or_default();
            CompiledFile { requested, stem: stem.to_string_lossy().into_owned(), descriptor }
        })
        .collect();
    files.sort_by(|a, b| a.descriptor.name().cmp(b.descriptor.name()));
    Ok(Compiled { files, read })
}

/// The folders that imports are searched in: those that were given, and that of each file that is in none of them.
fn folders(files: &[PathBuf], include_dirs: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = include_dirs.to_vec();
    for file in files {
        if folders.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// The report of protox, laid out as ours are.
fn render(error: &protox::Error) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let mut report = String::new();
    match handler.render_report(&mut report, error) {
        Ok(()) => report,
        Err(_) => format!("{error:?}"),
    }
}

/// `file:line:column` of a part of a file, by its path of field numbers and indices.
pub(super) fn locate(file: &FileDescriptorProto, path: &[i32]) -> String {
    let info = file.source_code_info.as_ref();
    let found = info.and_then(|info| info.location.iter().find(|location| location.path == path));
    match found.map(|location| location.span.as_slice()) {
        Some([line, column, ..]) => format!("{}:{}:{}", file.name(), line + 1, column + 1),
        _ => file.name().to_owned(),
    }
}
