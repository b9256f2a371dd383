//! What a build script calls.

use crate::error::Error;
use std::path::{Path, PathBuf};

/// Compiles schemas with the default settings. The same as [`configure`]`().compile(files)`.
///
/// # Errors
/// See [`Config::compile`].
pub fn compile<P: AsRef<Path>>(files: impl IntoIterator<Item = P>) -> Result<(), Error> {
    configure().compile(files)
}

/// Default settings, to be changed.
pub fn configure() -> Config {
    Config::default()
}

/// Settings of a build.
#[derive(Clone, Debug, Default)]
pub struct Config {
    include_dirs: Vec<PathBuf>,
}

impl Config {
    /// Adds a folder in which included files are searched, after the folder of the including file and the folders
    /// added before. Relative to the current directory, which in a build script is that of its package.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include_dirs.push(folder.into());
        self
    }

    /// Reads and checks schemas, prints their warnings for cargo, and tells cargo to run the build script again when
    /// one of the files that were read changes, and only then.
    ///
    /// # Errors
    /// All errors of all files together; whether a file could not be read, is not of a known kind, or is wrong.
    pub fn compile<P: AsRef<Path>>(&self, files: impl IntoIterator<Item = P>) -> Result<(), Error> {
        let (mut thrift, mut unknown) = (Vec::new(), Vec::new());
        for file in files {
            let file = file.as_ref().to_owned();
            println!("cargo::rerun-if-changed={}", file.display());
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("thrift") if cfg!(feature = "thrift") => thrift.push(file),
                _ => unknown.push(file),
            }
        }
        if let Some(file) = unknown.first() {
            return Err(Error::message(format!("no enabled feature reads `{}`", file.display())));
        }
        self.thrift(&thrift)
    }

    #[cfg(feature = "thrift")]
    fn thrift(&self, files: &[PathBuf]) -> Result<(), Error> {
        let checked = crate::thrift::check(files, &self.include_dirs);
        let sources = match &checked {
            Ok(checked) => &checked.sources,
            Err(error) => error.sources(),
        };
        for file in sources.files() {
            println!("cargo::rerun-if-changed={}", file.path().display());
        }
        let checked = checked?;
        for warning in &checked.warnings {
            println!("cargo::warning={}", warning.one_line(&checked.sources));
        }
        Ok(())
    }

    #[cfg(not(feature = "thrift"))]
    fn thrift(&self, _files: &[PathBuf]) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_of_file_is_refused_by_name() {
        let error = compile(["idl/hello.txt"]).unwrap_err();
        assert!(error.to_string().contains("no enabled feature reads `idl/hello.txt`"), "{error}");
    }
}
