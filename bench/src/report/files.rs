//! The output folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{csv, json};
use crate::analysis::comparison::Analysis;
use crate::cli::settings::Settings;
use crate::drive::calibration::Calibration;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::plan::Plan;

/// Where results go: as asked for, or a folder named by time and label.
pub fn folder(settings: &Settings, started: SystemTime) -> PathBuf {
    let output = &settings.output;
    output
        .out
        .clone()
        .unwrap_or_else(|| Path::new("target/bench").join(format!("{}-{}", stamp(started), output.label)))
}

/// Everything that the files are made from.
#[derive(Debug)]
pub struct Saved<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The plan.
    pub plan: &'a Plan,
    /// What was found.
    pub analysis: &'a Analysis,
    /// What was found before.
    pub calibration: Option<&'a Calibration>,
    /// The machine.
    pub environment: &'a Environment,
    /// The command line.
    pub command: &'a str,
    /// When it began.
    pub started: SystemTime,
}

/// Writes the files that were asked for; says whether there were any.
///
/// # Errors
///
/// If a file can not be written.
pub fn save(folder: &Path, saved: &Saved<'_>) -> Result<bool, Failure> {
    let output = &saved.settings.output;
    if !output.json && !output.csv {
        return Ok(false);
    }
    let failed = |path: &Path, error: std::io::Error| {
        Failure::Internal(format!("writing {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))
    };
    if output.json {
        write("result.json", json::result(saved).map_err(Failure::internal)?)?;
    }
    if output.csv {
        write("cells.csv", csv::cells(saved.analysis, saved.settings))?;
    }
    Ok(true)
}

/// UTC as `20250131-235959`.
pub fn stamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}{month:02}{day:02}-{:02}{:02}{:02}", rest / 3600, rest % 3600 / 60, rest % 60)
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from 0000-03-01, so that a leap day is the last of its year; 400 years are 146 097 days.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn stamps() {
        for (seconds, text) in [
            (0, "19700101-000000"),
            (951_782_399, "20000228-235959"),
            (951_782_400, "20000229-000000"),
            (951_868_800, "20000301-000000"),
            (1_735_689_599, "20241231-235959"),
        ] {
            assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
