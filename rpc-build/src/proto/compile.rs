//! From paths to checked descriptors.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::source::SourceMap;
use prost_types::{FieldDescriptorProto, FileDescriptorProto};
use protox::Compiler;
use std::fmt;
use std::path::{Path, PathBuf};

/// Checked files.
pub(super) struct Compiled {
    /// All files, imported ones too, by name: the order in which they were asked for shows nowhere.
    pub(super) files: Vec<CompiledFile>,
    /// The paths that were read.
    pub(super) read: Vec<PathBuf>,
}

pub(super) struct CompiledFile {
    /// With the names of the schema.
    pub(super) original: FileDescriptorProto,
    /// With names that are different in Rust.
    pub(super) descriptor: FileDescriptorProto,
    pub(super) requested: bool,
    pub(super) stem: String,
}

/// Reads and checks files. Each has to be in one of the folders, or beside what it imports.
pub(super) fn compile(files: &[PathBuf], include_dirs: &[PathBuf]) -> Result<Compiled, Error> {
    let folders = folders(files, include_dirs);
    let mut compiler =
        Compiler::new(&folders).map_err(|error| Error::new(errors(&error, None), SourceMap::default()))?;
    compiler.include_imports(true).include_source_info(true);
    let mut sorted: Vec<&PathBuf> = files.iter().collect();
    sorted.sort();
    let nowhere = SourceMap::default();
    let mut found = Vec::new();
    for file in sorted {
        if let Err(error) = compiler.open_file(file) {
            for error in errors(&error, Some(file)) {
                // one imported file can spoil several
                let report = error.render(&nowhere);
                if !found.iter().any(|found: &Diagnostic| found.render(&nowhere) == report) {
                    found.push(error);
                }
            }
        }
    }
    if !found.is_empty() {
        return Err(Error::new(found, nowhere));
    }
    let read = compiler.files().filter_map(|file| file.path()).map(Path::to_owned).collect();
    let requested: Vec<bool> = compiler.files().map(|file| !file.is_import()).collect();
    let descriptors = compiler.file_descriptor_set().file;
    let extensions: Vec<Diagnostic> = descriptors.iter().flat_map(extensions).collect();
    if !extensions.is_empty() {
        return Err(Error::new(extensions, nowhere));
    }
    let mut files: Vec<CompiledFile> = descriptors
        .into_iter()
        .zip(requested)
        .map(|(descriptor, requested)| {
            let stem = Path::new(descriptor.name()).file_stem().unwrap_or_default();
            CompiledFile {
                original: descriptor.clone(),
                requested,
                stem: stem.to_string_lossy().into_owned(),
                descriptor,
            }
        })
        .collect();
    files.sort_by(|a, b| a.descriptor.name().cmp(b.descriptor.name()));
    Ok(Compiled { files, read })
}

/// Fields that a file adds to messages which are declared elsewhere: prost's types have no place for them, so they would be lost
/// without a word. Those of options concern no message that is sent.
fn extensions(file: &FileDescriptorProto) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut look = |path: &[i32], number: i32, extensions: &[FieldDescriptorProto]| {
        for (index, field) in (0..).zip(extensions) {
            if !field.extendee().starts_with(".google.protobuf.") {
                let place = locate(file, &[path, &[number, index]].concat());
                let what = field.extendee().trim_start_matches('.');
                let message = format!("`{}` extends `{what}`, which is not supported", field.name());
                found.push(Diagnostic::at(place, message).help("declare the field in the message itself"));
            }
        }
    };
    look(&[], EXTENSIONS, &file.extension);
    let messages = (0..).zip(&file.message_type);
    let mut open: Vec<_> = messages.map(|(index, message)| (vec![MESSAGES, index], message)).collect();
    while let Some((path, message)) = open.pop() {
        look(&path, EXTENSIONS_OF_A_MESSAGE, &message.extension);
        let nested = (0..).zip(&message.nested_type);
        open.extend(nested.map(|(index, nested)| ([path.as_slice(), &[NESTED, index]].concat(), nested)));
    }
    found
}

// the numbers of fields in descriptors, of which paths of places are made
const MESSAGES: i32 = 4;
const EXTENSIONS: i32 = 7;
const NESTED: i32 = 3;
const EXTENSIONS_OF_A_MESSAGE: i32 = 6;

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

/// The errors that are in one of protox's, which holds all of a file. Some have no place, like those at the end of the file.
fn errors(error: &protox::Error, file: Option<&Path>) -> Vec<Diagnostic> {
    let error: &dyn miette::Diagnostic = error;
    let related = error.related().into_iter().flatten();
    std::iter::once(error)
        .chain(related)
        .map(|found| {
            let text = found.source_code().or(error.source_code());
            Diagnostic::foreign(&Alone { found, text }, file)
        })
        .collect()
}

/// One error without those that were found beside it.
struct Alone<'a> {
    found: &'a dyn miette::Diagnostic,
    text: Option<&'a dyn miette::SourceCode>,
}

impl fmt::Display for Alone<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.found, f)
    }
}

impl fmt::Debug for Alone<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.found)
    }
}

impl std::error::Error for Alone<'_> {}

impl miette::Diagnostic for Alone<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.found.help()
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.text
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.found.labels()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, text: &str) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("rpc-build-compile-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.proto");
        std::fs::write(&file, text).unwrap();
        let error = compile(std::slice::from_ref(&file), &[]).err().expect("errors");
        std::fs::remove_dir_all(&folder).unwrap();
        error.diagnostics().iter().map(|found| found.one_line(error.sources())).collect()
    }

    #[test]
    fn fields_of_messages_that_are_declared_elsewhere_are_refused_with_their_places() {
        let text = "syntax = \"proto2\";\nmessage A { extensions 5 to 9; }\nextend A { optional int32 b = 5; }\n\
                    message B { message C { extend A { optional int32 d = 6; } } }\n";
        let help = "which is not supported (declare the field in the message itself)";
        assert_eq!(
            refused("extensions", text),
            [
                format!("a.proto:3:12: `b` extends `A`, {help}"),
                format!("a.proto:4:36: `d` extends `A`, {help}")
            ]
        );
    }

    #[test]
    fn errors_have_the_place_of_what_is_wrong_or_their_file() {
        assert_eq!(
            refused("place", "syntax = \"proto3\";\nmessage A {\n  No a = 1;\n}\n"),
            ["a.proto:3:3: name 'No' is not defined"]
        );
        let [end] = &refused("end", "syntax = \"proto3\";\nmessage A {")[..] else { panic!("one error") };
        assert!(end.contains("a.proto: expected") && end.ends_with("reached end of file"), "{end}");
    }
}
