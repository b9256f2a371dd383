//! What a build script calls.

use crate::emit::{Output, parse_path};
use crate::error::Error;
use proc_macro2::TokenStream;
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
#[derive(Clone, Debug)]
pub struct Config {
    include_dirs: Vec<PathBuf>,
    crate_path: String,
    serde: bool,
    warnings: bool,
    out_dir: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            include_dirs: Vec::new(),
            crate_path: "::rpc".to_owned(),
            serde: true,
            warnings: true,
            out_dir: None,
        }
    }
}

impl Config {
    /// Adds a folder in which included files are searched, after the folder of the including file and the folders
    /// added before. Relative to the current directory, which in a build script is that of its package.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include_dirs.push(folder.into());
        self
    }

    /// The absolute path under which generated code finds the `rpc` crate. Default: `::rpc`. To be changed where the
    /// crate has another name in `Cargo.toml`, or is re-exported by another (`::base::rpc`).
    pub fn crate_path(mut self, path: impl Into<String>) -> Self {
        self.crate_path = path.into();
        self
    }

    /// Whether generated types are serde types too, as MessagePack and JSON need. Default: yes. Without, they compile
    /// in less time.
    pub fn serde(mut self, serde: bool) -> Self {
        self.serde = serde;
        self
    }

    /// Whether cargo prints what is legal in a schema but should be looked at, like a name that needed a number in Rust.
    /// Default: yes.
    pub fn warnings(mut self, warnings: bool) -> Self {
        self.warnings = warnings;
        self
    }

    /// The folder that generated files go to. Default: the one that cargo gives build scripts, `OUT_DIR`, where
    /// `rpc::include_idl!` looks.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Reads and checks schemas and writes their Rust, prints warnings for cargo, and tells cargo to run the build
    /// script again when one of the files that were read changes, and only then.
    ///
    /// Two things are written for `rpc::include_idl!`. For each schema a file with its name: `include_idl!("hello")`
    /// brings what `hello.thrift` declares, and beside it a module for each namespace that it or a file it includes
    /// has. (Where there is a `hello.proto` too: `include_idl!("hello.thrift")`.) And one file with all schemas of the
    /// call: `include_idl!()`. It is for schemas that share types, which would be other types in each file. A file that
    /// has the right text already is left alone.
    ///
    /// # Errors
    /// All errors of all files together; whether a file could not be read, is not of a known kind, or is wrong. And
    /// what else stops the writing: no `OUT_DIR`, a crate path that is none.
    pub fn compile<P: AsRef<Path>>(&self, files: impl IntoIterator<Item = P>) -> Result<(), Error> {
        let (mut thrift, mut proto, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for file in files {
            let file = file.as_ref().to_owned();
            println!("cargo::rerun-if-changed={}", file.display());
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("thrift") if cfg!(feature = "thrift") => thrift.push(file),
                Some("proto") if cfg!(feature = "proto") => proto.push(file),
                _ => unknown.push(file),
            }
        }
        if let Some(file) = unknown.first() {
            return Err(Error::message(format!("no enabled feature reads `{}`", file.display())));
        }
        let rpc = parse_path(&self.crate_path).ok_or_else(|| {
            Error::message(format!("`{}` is no absolute path of a crate, like `::rpc`", self.crate_path))
        })?;
        let folder = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let mut output = Output::default();
        self.thrift(&thrift, &rpc, &mut output)?;
        self.proto(&proto, &rpc, &mut output)?;
        let folder =
            folder.ok_or_else(|| Error::message("no `OUT_DIR`: not a build script, and no `out_dir` set"))?;
        output.write(&folder)
    }

    #[cfg(feature = "thrift")]
    fn thrift(&self, files: &[PathBuf], rpc: &TokenStream, output: &mut Output) -> Result<(), Error> {
        use crate::thrift::generate::{Options, generate};
        let checked = crate::thrift::check(files, &self.include_dirs);
        let sources = match &checked {
            Ok(checked) => &checked.sources,
            Err(error) => error.sources(),
        };
        for file in sources.files() {
            println!("cargo::rerun-if-changed={}", file.path().display());
        }
        let checked = checked?;
        let options = Options { rpc: rpc.clone(), serde: self.serde };
        let renames = generate(&checked, &options, output)?;
        for warning in checked.warnings.iter().chain(&renames) {
            self.warn(&warning.one_line(&checked.sources));
        }
        Ok(())
    }

    #[cfg_attr(not(any(feature = "thrift", feature = "proto")), allow(dead_code))]
    fn warn(&self, warning: &str) {
        if self.warnings {
            println!("cargo::warning={warning}");
        }
    }

    #[cfg(not(feature = "thrift"))]
    fn thrift(&self, _files: &[PathBuf], _rpc: &TokenStream, _output: &mut Output) -> Result<(), Error> {
        Ok(())
    }

    #[cfg(feature = "proto")]
    fn proto(&self, files: &[PathBuf], rpc: &TokenStream, output: &mut Output) -> Result<(), Error> {
        use crate::proto::{Options, generate};
        if files.is_empty() {
            return Ok(());
        }
        let options = Options { rpc: rpc.clone(), serde: self.serde };
        let report = generate(files, &self.include_dirs, &options, output)?;
        for file in &report.read {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        for warning in &report.warnings {
            self.warn(warning);
        }
        Ok(())
    }

    #[cfg(not(feature = "proto"))]
    fn proto(&self, _files: &[PathBuf], _rpc: &TokenStream, _output: &mut Output) -> Result<(), Error> {
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

    #[test]
    fn a_crate_path_that_is_none_is_refused() {
        let error = configure().crate_path("rpc").compile::<&str>([]).unwrap_err();
        assert!(error.to_string().contains("`rpc` is no absolute path"), "{error}");
    }
}
