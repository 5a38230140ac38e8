//! Programs of this machine that a test may need.

use std::{io::Write, path::PathBuf};

/// Where a program of this machine stands; says on stderr, past the capture of the test harness, that a test
/// is left out where there is none.
pub(crate) fn tool(name: &str, test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|place| place.is_file());
    if found.is_none() {
        skip(test, &format!("there is no `{name}` on this machine"));
    }
    found
}

/// Says on stderr, past the capture of the test harness, why a test is left out.
pub(crate) fn skip(test: &str, reason: &str) {
    std::io::stderr().write_all(format!("SKIPPED {test}: {reason}\n").as_bytes()).unwrap();
}
