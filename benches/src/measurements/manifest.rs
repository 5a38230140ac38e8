//! `stepmark project manifest verify` beside what git does with the same tree, and beside the bare work.

use std::{fs, path::Path, time::Duration};

use crate::{
    failure::Failure,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::{Tools, git},
};

/// The place where stepmark keeps what it knows of unchanged files.
const CACHE: &str = ".stepmark/local/cache";

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    report::title("manifest verify, warm: nothing has changed, the stat cache is there");
    let series = alternate(
        rounds,
        vec![
            Contender::new("manifest verify", || verify(tools, folder)),
            Contender::new("git status", || process::time(&mut git(folder, &["status", "--porcelain"]))),
            Contender::new("bare walk and stat", || process::time(tools.own("bare-walk").arg(folder))),
        ],
    )?;
    report::slower(&series[0], &series[1], Target::AtMost(1.25));
    report::slower(&series[0], &series[2], Target::AtMost(1.3));

    report::title(
        "manifest verify, cold: the stat cache is deleted, the files are in the page cache of the system",
    );
    let series = alternate(
        rounds,
        vec![
            Contender::new("manifest verify", || verify_cold(tools, folder)),
            Contender::new("bare read and SHA-256", || process::time(tools.own("bare-hash").arg(folder))),
        ],
    )?;
    report::slower(&series[0], &series[1], Target::AtMost(1.2));
    Ok(())
}

/// The time that `manifest verify` takes.
pub(crate) fn verify(tools: &Tools, folder: &Path) -> Result<Duration, Failure> {
    process::time(&mut tools.stepmark(folder, &["manifest", "verify", "--quiet"]))
}

/// The time that `manifest verify` takes without a stat cache; it writes a new one.
pub(crate) fn verify_cold(tools: &Tools, folder: &Path) -> Result<Duration, Failure> {
    let cache = folder.join(CACHE);
    if cache.exists() {
        fs::remove_dir_all(&cache).map_err(Failure::file("remove", &cache))?;
    }
    verify(tools, folder)
}
