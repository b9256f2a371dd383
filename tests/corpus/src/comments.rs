//! What a schema says of itself in the comments at its top.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// What is to be said about a schema, one line each, as `Diagnostic::one_line` prints it with file names alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// From lines `// error …`.
    pub errors: Vec<String>,
    /// From lines `// warning …`.
    pub warnings: Vec<String>,
}

/// A folder of this crate.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// What a schema says is to be said about it. A place without the name of a file is in the schema itself.
///
/// # Errors
/// When it can not be read.
pub fn expected(file: &Path) -> io::Result<Expected> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let lines = |mark: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.trim_start_matches('\u{feff}').strip_prefix(mark));
        lines
            .map(|line| {
                let (place, message) = line.split_once(' ').unwrap_or((line, ""));
                let is_place =
                    place.split(':').next_back().is_some_and(|column| column.parse::<u32>().is_ok());
                match place.matches(':').count() {
                    1 if is_place => format!("{name}:{place}: {message}"),
                    2 if is_place => format!("{place}: {message}"),
                    _ => line.to_owned(),
                }
            })
            .collect()
    };
    Ok(Expected { errors: lines("// error "), warnings: lines("// warning ") })
}

/// Whether a schema says why Apache's compiler or library sees it in another way: in a line `// Apache…`.
///
/// # Errors
/// When it can not be read.
pub fn says_why(file: &Path) -> io::Result<bool> {
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    Ok(text.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with("// Apache")))
}
