//! All that decides about every file of a run: the program, the configuration, the files of the workflows.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: stats of the program and of step files are taken here"
)]

use std::{env, fmt::Write as _, fs, path::Path};

use crate::{checking::cache::RunStart, disk::file_reading::FileStat, workspace::Workspace};
use stepmark_model::artifact::FileHash;

/// The digest of all that; `None` where a part is unknown, or so new that it may change without a trace.
pub(crate) fn of(workspace: &Workspace, start: RunStart) -> Option<FileHash> {
    // The rules are code: another build may have others.
    let mut text = format!("{} {}\n", env!("CARGO_PKG_VERSION"), stat(&env::current_exe().ok()?, None)?);
    // Writing to a string never fails.
    let _infallible = writeln!(text, "{}", workspace.configuration().digest()?);
    for path in workspace.workflows().files() {
        let stat = stat(&workspace.root().path().join(path.as_str()), Some(start))?;
        let _infallible = writeln!(text, "{:?} {stat}", path.as_str());
    }
    Some(FileHash::of(text.as_bytes()))
}

/// The stat of the file at `place`, as text; `None` where it has none, or has changed just before `start`.
fn stat(place: &Path, start: Option<RunStart>) -> Option<String> {
    let stat = FileStat::of(&fs::metadata(place).ok()?);
    let is_settled = start.is_none_or(|start| !stat.may_hide_a_change(start.moment));
    is_settled.then(|| format!("{stat:?}"))
}
