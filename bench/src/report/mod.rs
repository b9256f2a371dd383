//! What is printed and saved.
//!
//! - [`numbers`]: how figures are written.
//! - [`layout`]: columns that wrap into blocks.
//! - [`run`] and [`matrix`]: the tables.
//! - [`result_line`]: the last line of standard output.
//! - [`files`], [`json`], [`csv`]: what goes into the output folder.
//! - [`progress`]: standard error while it runs.
//! - [`screen`]: standard output.

pub mod csv;
pub mod files;
pub mod json;
pub mod layout;
pub mod matrix;
pub mod numbers;
pub mod progress;
pub mod result_line;
pub mod run;
pub mod screen;
