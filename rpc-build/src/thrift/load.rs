//! The requested files and all they include, each read and parsed once.

use super::ast;
use super::graph::cycles;
use super::parser::parse;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest file that is read: 16 MiB. Offsets are 32 bits wide, and no schema comes near it.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// Where files come from: the disk, or a test's table.
pub(super) trait Files {
    /// A path that is equal for equal files. An error if there is no such file.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    fn is_dir(&self, path: &Path) -> bool;
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

pub(super) struct Disk;

impl Files for Disk {
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // a pipe or a device could be endless, or wait
        if !path.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// All files; the position of each is that of its [`FileId`] in the source map.
pub(super) struct Loaded {
    pub(super) sources: SourceMap,
    pub(super) files: Vec<LoadedFile>,
    pub(super) found: Vec<Diagnostic>,
}

pub(super) struct LoadedFile {
    pub(super) id: FileId,
    pub(super) ast: ast::File,
    pub(super) requested: bool,
    /// The files that could be read: position in [`Loaded::files`], and where the include stands.
    pub(super) includes: Vec<(usize, Span)>,
    /// The stems of those that could not.
    pub(super) missing: Vec<String>,
}

impl LoadedFile {
    /// What the file is called where it is included.
    pub(super) fn stem(&self, sources: &SourceMap) -> String {
        stem(sources.file(self.id).path())
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads everything. The result does not depend on the order of `requested`.
pub(super) fn load(files: &dyn Files, requested: &[PathBuf], include_dirs: &[PathBuf]) -> Loaded {
    let mut loader = Loader {
        files,
        include_dirs,
        known: HashMap::new(),
        loaded: Loaded { sources: SourceMap::default(), files: Vec::new(), found: Vec::new() },
    };
    let mut requested: Vec<&PathBuf> = requested.iter().collect();
    requested.sort();
    for path in requested {
        match loader.open(path) {
            Ok(index) => loader.loaded.files[index].requested = true,
            Err(reason) => loader
                .loaded
                .found
                .push(Diagnostic::nowhere(format!("can not read `{}`: {reason}", path.display()))),
        }
    }
    let mut next = 0;
    while next < loader.loaded.files.len() {
        loader.follow_includes(next);
        next += 1;
    }
    loader.refuse_cycles();
    loader.loaded
}

struct Loader<'a> {
    files: &'a dyn Files,
    include_dirs: &'a [PathBuf],
    /// Canonical paths of what was read.
    known: HashMap<PathBuf, usize>,
    loaded: Loaded,
}

impl Loader<'_> {
    /// Reads and parses a file, unless that was done before.
    fn open(&mut self, path: &Path) -> Result<usize, String> {
        let canonical = self.files.canonical(path).map_err(|error| error.to_string())?;
        if let Some(&index) = self.known.get(&canonical) {
            return Ok(index);
        }
        if self.files.is_dir(path) {
            return Err("it is a directory".to_owned());
        }
        let bytes = self.files.read(path).map_err(|error| error.to_string())?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(format!("it has more than {} MiB", MAX_FILE_BYTES >> 20));
        }
        let index = self.loaded.files.len();
        self.known.insert(canonical, index);
        let (id, ast) = self.parse(path, bytes);
        self.loaded.files.push(LoadedFile {
            id,
            ast,
            requested: false,
            includes: Vec::new(),
            missing: Vec::new(),
        });
        Ok(index)
    }

    fn parse(&mut self, path: &Path, bytes: Vec<u8>) -> (FileId, ast::File) {
        let (text, valid) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(valid))
            }
        };
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let text: std::sync::Arc<str> = text.get(mark..).unwrap_or_default().into();
        let id = self.loaded.sources.add(path.to_owned(), text.clone());
        if let Some(valid) = valid {
            let start = valid.saturating_sub(mark);
            let at = Span::new(id, start, start + char::REPLACEMENT_CHARACTER.len_utf8());
            self.loaded
                .found
                .push(Diagnostic::error(at, "this is not UTF-8").help("save the file in the UTF-8 encoding"));
            return (id, ast::File::default());
        }
        (id, parse(&text, id, &mut self.loaded.found))
    }

    fn follow_includes(&mut self, index: usize) {
        let includes: Vec<(String, Span)> = self.loaded.files[index]
            .ast
            .includes
            .iter()
            .map(|include| (include.path.clone(), include.span))
            .collect();
        for (path, span) in includes {
            match self.include(index, &path) {
                Ok(target) => {
                    let known = &mut self.loaded.files[index].includes;
                    if !known.iter().any(|(file, _)| *file == target) {
                        known.push((target, span));
                    }
                }
                Err((message, help)) => {
                    self.loaded.files[index].missing.push(stem(Path::new(&path)));
                    let diagnostic = Diagnostic::error(span, message).label("included here").help(help);
                    self.loaded.found.push(diagnostic);
                }
            }
        }
    }

    /// Looks beside the including file first, then in the include folders in order.
    fn include(&mut self, from: usize, path: &str) -> Result<usize, (String, String)> {
        let including = self.loaded.sources.file(self.loaded.files[from].id).path();
        let beside = including.parent().unwrap_or(Path::new("")).to_owned();
        let mut looked = Vec::new();
        for folder in std::iter::once(&beside).chain(self.include_dirs) {
            let candidate = folder.join(path);
            if self.files.canonical(&candidate).is_err() {
                looked.push(format!("`{}`", candidate.display()));
                continue;
            }
            if self.files.is_dir(&candidate) {
                let message = format!("`{path}` is a directory");
                return Err((message, format!("name a file in `{}`", candidate.display())));
            }
            return self.open(&candidate).map_err(|reason| {
                (
                    format!("can not read `{path}`: {reason}"),
                    format!("it was found at `{}`", candidate.display()),
                )
            });
        }
        let message = format!("there is no file `{path}`");
        looked.dedup();
        Err((message, format!("looked for {}", looked.join(", "))))
    }

    fn refuse_cycles(&mut self) {
        let files = &self.loaded.files;
        let edges: Vec<Vec<usize>> =
            files.iter().map(|file| file.includes.iter().map(|(target, _)| *target).collect()).collect();
        for chain in cycles(&edges) {
            let name = |index: usize| self.loaded.sources.file(files[index].id).path().display().to_string();
            // the include statement that leads from each file to the next
            let steps: Vec<(Span, String)> = (0..chain.len())
                .filter_map(|step| {
                    let target = chain[(step + 1) % chain.len()];
                    let (_, span) = files[chain[step]].includes.iter().find(|(file, _)| *file == target)?;
                    Some((*span, name(target)))
                })
                .collect();
            let Some(((span, target), others)) = steps.split_first() else { continue };
            let names: Vec<String> = chain.iter().chain(chain.first()).map(|index| name(*index)).collect();
            let message = match names.as_slice() {
                [file, _] => format!("`{file}` includes itself"),
                names => format!("files include each other: {}", names.join(" → ")),
            };
            let mut diagnostic = Diagnostic::error(*span, message)
                .label(format!("includes `{target}`"))
                .help("move what both files need into a third");
            for (span, target) in others {
                diagnostic = diagnostic.also(*span, format!("which includes `{target}`"));
            }
            self.loaded.found.push(diagnostic);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Files in memory; a name that ends with `/` is a folder.
    pub(crate) struct Memory(pub(crate) Vec<(&'static str, Vec<u8>)>);

    impl Memory {
        pub(crate) fn new(files: &[(&'static str, &str)]) -> Self {
            Self(files.iter().map(|(name, text)| (*name, text.as_bytes().to_vec())).collect())
        }

        fn clean(path: &Path) -> PathBuf {
            let mut clean = PathBuf::new();
            for part in path.components() {
                match part {
                    std::path::Component::ParentDir => {
                        clean.pop();
                    }
                    std::path::Component::CurDir => {}
                    part => clean.push(part),
                }
            }
            clean
        }

        fn find(&self, path: &Path) -> Option<&(&'static str, Vec<u8>)> {
            let path = Self::clean(path);
            self.0.iter().find(|(name, _)| Path::new(name.trim_end_matches('/')) == path)
        }
    }

    impl Files for Memory {
        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            self.find(path).map(|_| Self::clean(path)).ok_or_else(|| io::Error::other("no such file"))
        }

        fn is_dir(&self, path: &Path) -> bool {
            self.find(path).is_some_and(|(name, _)| name.ends_with('/'))
        }

        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            self.find(path).map(|(_, bytes)| bytes.clone()).ok_or_else(|| io::Error::other("no such file"))
        }
    }

    fn run(files: Memory, requested: &[&str], dirs: &[&str]) -> (Vec<String>, Vec<String>) {
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        let loaded = load(&files, &paths(requested), &paths(dirs));
        (
            loaded.sources.files().iter().map(|file| file.path().display().to_string()).collect(),
            loaded.found.iter().map(|found| found.one_line(&loaded.sources)).collect(),
        )
    }

    #[test]
    fn a_file_is_read_once_however_it_is_reached() {
        let files = Memory::new(&[
            ("idl/a.thrift", "include \"b.thrift\"\ninclude 'sub/c.thrift'"),
            ("idl/b.thrift", "include \"./sub/../sub/c.thrift\"\ninclude 'd.thrift'"),
            ("idl/sub/c.thrift", ""),
            ("other/d.thrift", "\u{feff}include 'c.thrift'"),
            ("other/c.thrift", ""),
        ]);
        let (read, found) = run(files, &["idl/b.thrift", "idl/a.thrift", "idl/a.thrift"], &["other"]);
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(
            read,
            ["idl/a.thrift", "idl/b.thrift", "idl/sub/c.thrift", "other/d.thrift", "other/c.thrift"]
        );
    }

    #[test]
    fn what_can_not_be_included_is_located() {
        let files = Memory::new(&[("a.thrift", "include 'no.thrift'\n include 'dir'"), ("dir/", "")]);
        let (_, found) = run(files, &["a.thrift", "gone.thrift", "dir"], &["inc"]);
        assert_eq!(
            found,
            [
                "can not read `dir`: it is a directory",
                "can not read `gone.thrift`: no such file",
                "a.thrift:1:9: there is no file `no.thrift` (looked for `no.thrift`, `inc/no.thrift`)",
                "a.thrift:2:10: `dir` is a directory (name a file in `dir`)",
            ]
        );
    }

    #[test]
    fn cycles_are_refused_with_the_chain() {
        let files = Memory::new(&[
            ("a.thrift", "include 'b.thrift'"),
            ("b.thrift", "include 'c.thrift'"),
            ("c.thrift", "\ninclude 'b.thrift'"),
            ("self.thrift", "include 'self.thrift'"),
        ]);
        let (_, found) = run(files, &["a.thrift", "self.thrift"], &[]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("self.thrift:1:9: `self.thrift` includes itself"), "{found:?}");
        assert!(
            found[1].starts_with("b.thrift:1:9: files include each other: b.thrift → c.thrift → b.thrift"),
            "{found:?}"
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_located() {
        let files = Memory(vec![("a.thrift", b"\xef\xbb\xbfenum E {}\n \xff".to_vec())]);
        let (_, found) = run(files, &["a.thrift"], &[]);
        assert_eq!(found, ["a.thrift:2:2: this is not UTF-8 (save the file in the UTF-8 encoding)"]);
    }
}
