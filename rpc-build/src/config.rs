//! What a build script calls.

use crate::emit::{Options, Output, parse_path};
use crate::error::Error;
use std::collections::BTreeSet;
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
    keep_unknown: bool,
    warnings: bool,
    out_dir: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            include_dirs: Vec::new(),
            crate_path: "::rpc".to_owned(),
            serde: true,
            keep_unknown: false,
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

    /// Whether structs, exceptions and unions of `.thrift` files keep the fields that their definitions do not know, and write them
    /// again behind the others: for proxies, and for services that are older than their callers, which read a value, change
    /// it and pass it on. Default: no; unknown fields are left out then, and cost nothing.
    ///
    /// A struct gets one field more, `unknown_fields` of the type `thrift::UnknownFields`, so literals of it need
    /// `..Default::default()`. Fields whose id is known but whose type is another are kept as well. A union's variant
    /// `Unknown` holds what came instead of an id, and can be written. What came in Thrift binary may leave in compact, and the
    /// reverse; MessagePack and JSON neither keep nor write unknown fields. Arguments and results of methods have none.
    pub fn keep_unknown_fields(mut self, keep: bool) -> Self {
        self.keep_unknown = keep;
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
        let mut build = Build::default();
        let generated = self.generate(files.into_iter().map(|file| file.as_ref().to_owned()), &mut build);
        for file in &build.read {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        generated?;
        if self.warnings {
            for warning in &build.warnings {
                println!("cargo::warning={warning}");
            }
        }
        let folder = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let folder =
            folder.ok_or_else(|| Error::message("no `OUT_DIR`: not a build script, and no `out_dir` set"))?;
        build.output.write(&folder)
    }

    fn generate(&self, files: impl Iterator<Item = PathBuf>, build: &mut Build) -> Result<(), Error> {
        let (mut thrift, mut proto, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for file in files {
            build.read.insert(file.clone());
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
        let options = Options { rpc, serde: self.serde, keep_unknown: self.keep_unknown };
        match (self.thrift(&thrift, &options, build), self.proto(&proto, &options, build)) {
            (Err(thrift), Err(proto)) => Err(thrift.and(proto)),
            (thrift, proto) => thrift.and(proto),
        }
    }

    #[cfg(feature = "thrift")]
    fn thrift(&self, files: &[PathBuf], options: &Options, build: &mut Build) -> Result<(), Error> {
        let checked = crate::thrift::check(files, &self.include_dirs);
        let sources = match &checked {
            Ok(checked) => &checked.sources,
            Err(error) => error.sources(),
        };
        build.read.extend(sources.files().iter().map(|file| file.path().to_owned()));
        let checked = checked?;
        let renames = crate::thrift::generate::generate(&checked, options, &mut build.output)?;
        let warnings = checked.warnings.iter().chain(&renames);
        build.warnings.extend(warnings.map(|warning| warning.one_line(&checked.sources)));
        Ok(())
    }

    #[cfg(not(feature = "thrift"))]
    fn thrift(&self, _: &[PathBuf], _: &Options, _: &mut Build) -> Result<(), Error> {
        Ok(())
    }

    #[cfg(feature = "proto")]
    fn proto(&self, files: &[PathBuf], options: &Options, build: &mut Build) -> Result<(), Error> {
        if files.is_empty() {
            return Ok(());
        }
        let report = crate::proto::generate(files, &self.include_dirs, options, &mut build.output)?;
        build.read.extend(report.read);
        build.warnings.extend(report.warnings);
        Ok(())
    }

    #[cfg(not(feature = "proto"))]
    fn proto(&self, _: &[PathBuf], _: &Options, _: &mut Build) -> Result<(), Error> {
        Ok(())
    }
}

/// What comes of a build.
#[derive(Debug, Default)]
struct Build {
    /// The files that were asked for, and those that were read.
    read: BTreeSet<PathBuf>,
    /// One line each.
    warnings: Vec<String>,
    output: Output,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(config: &Config, files: &[&str]) -> (Build, Result<(), Error>) {
        let mut build = Build::default();
        let generated = config.generate(files.iter().map(PathBuf::from), &mut build);
        (build, generated)
    }

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

    #[test]
    #[cfg(all(feature = "thrift", feature = "proto"))]
    fn the_files_to_watch_are_those_that_were_read() {
        let asked = ["testdata/torture.thrift", "testdata/stream.proto"];
        let (build, generated) = build(&configure(), &asked);
        generated.unwrap();
        let read: Vec<&str> = build.read.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(
            read,
            [
                "testdata/shared.thrift",
                "testdata/stream.proto",
                "testdata/sub/imported.proto",
                "testdata/sub/other.thrift",
                "testdata/torture.thrift"
            ]
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_watched_as_well() {
        let (build, generated) = build(&configure(), &["testdata/nowhere.thrift", "testdata/nowhere.proto"]);
        assert!(generated.is_err());
        assert_eq!(build.read.len(), 2);
    }

    #[test]
    #[cfg(feature = "proto")]
    fn a_streaming_method_is_left_out_with_its_place() {
        let (build, generated) = build(&configure(), &["testdata/stream.proto"]);
        generated.unwrap();
        assert_eq!(
            build.warnings,
            ["stream.proto:13:3: `Probe.Down` is a streaming method, which is not generated yet"]
        );
        let code = &build.output.files().unwrap()["stream.rs"];
        assert!(code.contains("fn echo(") && !code.contains("fn down("), "{code}");
    }

    #[test]
    #[cfg(all(feature = "thrift", feature = "proto"))]
    fn all_errors_of_all_files_have_their_places() {
        let bad = ["testdata/bad.thrift", "testdata/bad.proto", "testdata/worse.proto"];
        let error = build(&configure(), &bad).1.unwrap_err();
        let text = error.to_string();
        for place in ["testdata/bad.thrift:2:", "bad.proto:6:", "bad.proto:7:", "worse.proto:3:"] {
            assert!(text.contains(place), "no {place} in {text}");
        }
        assert!(text.ends_with("4 errors in the schemas"), "{text}");
    }
}
