//! Files that are really there. Tests run in the folder of the crate.

use crate::thrift::check;
use std::path::PathBuf;

#[test]
fn files_are_read_from_the_disk_and_reported() {
    let requested = [PathBuf::from("testdata/torture.thrift"), "testdata/../testdata/echo.thrift".into()];
    let checked = check(&requested, &[]).unwrap();
    let read: Vec<_> = checked.sources.files().iter().map(|file| file.path().display().to_string()).collect();
    assert_eq!(
        read,
        [
            "testdata/../testdata/echo.thrift",
            "testdata/torture.thrift",
            "testdata/shared.thrift",
            "testdata/sub/other.thrift"
        ]
    );
    assert!(checked.warnings.is_empty());
}

#[test]
fn include_folders_are_searched() {
    let checked = check(&["testdata/sub/other.thrift".into()], &["nowhere".into(), "testdata/sub".into()]);
    assert_eq!(checked.unwrap().sources.files().len(), 2);
}

#[test]
fn what_is_no_file_is_refused() {
    let error = check(&["testdata/sub".into(), "testdata/none.thrift".into()], &[]).unwrap_err();
    let messages: Vec<&str> = error.diagnostics().iter().map(|found| found.message()).collect();
    assert!(messages[0].starts_with("can not read `testdata/none.thrift`: "), "{messages:?}");
    assert_eq!(messages[1..], ["can not read `testdata/sub`: it is a directory"]);
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    let error = check(&["/dev/zero".into()], &[]).unwrap_err();
    assert!(error.to_string().contains("it is not a regular file"), "{error}");
}
