//! Inputs common to all files of a run: program, configuration, workflow files.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: stats of the program and of step files are taken here"
)]

use std::{env, fmt::Write as _, fs, path::Path};

use crate::{checking::cache::RunStart, disk::file_reading::FileStat, workspace::Workspace};
use stepmark_model::artifact::FileHash;

/// `None` if a part is unknown, or so new that it may change without a trace.
pub(crate) fn of(workspace: &Workspace, start: RunStart) -> Option<FileHash> {
    // Another build may have other rules.
    let mut text = format!("{} {}\n", env!("CARGO_PKG_VERSION"), stat(&env::current_exe().ok()?, None)?);
    let _infallible = writeln!(text, "{}", workspace.configuration().digest()?);
    for path in workspace.workflows().files() {
        let stat = stat(&workspace.root().path().join(path.as_str()), Some(start))?;
        let _infallible = writeln!(text, "{:?} {stat}", path.as_str());
    }
    Some(FileHash::of(text.as_bytes()))
}

/// The stat as text; `None` if missing, or changed just before `start`.
fn stat(place: &Path, start: Option<RunStart>) -> Option<String> {
    let stat = FileStat::of(&fs::metadata(place).ok()?);
    let is_settled = start.is_none_or(|start| !stat.may_hide_a_change(start.moment));
    is_settled.then(|| format!("{stat:?}"))
}
