//! Words for states that several commands show.

use stepmark_store::history::{History, SegmentProblem};
use stepmark_store::workspace::{Artifacts, Workspace};
pub(crate) use stepmark_view::wording::{count, next, waiting_stories};

use super::Output;
use crate::exit::Failure;

/// The folders and files that could not be read, one line each: folders, then files.
pub(crate) fn unreadable(found: &Artifacts) -> Vec<String> {
    let folders = found.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind));
    let files = found.unreadable.iter().map(|error| crate::exit::chain(error));
    folders.chain(files).collect()
}

/// A line of a segment that cannot be used: `FILE:LINE: WHAT`.
pub(crate) fn segment_problem(problem: &SegmentProblem) -> String {
    format!("{}:{}: {}", problem.file, problem.line, problem.problem)
}

/// Names the records that were wanted and that cannot be used.
pub(crate) fn warn_of_unusable(workspace: &Workspace, output: &Output) {
    const SHOWN: usize = 5;
    let unusable = workspace.unusable_records();
    for (path, own) in unusable.iter().take(SHOWN) {
        let reason = own.reason.clone().unwrap_or_else(|| format!("`{path}` is no record any more"));
        let rest = if own.is_recorded { "its last recorded state counts" } else { "it is left out" };
        output.warning(format_args!("{reason}; {rest}"));
    }
    if unusable.len() > SHOWN {
        output.warning(format_args!("and {} more: `stepmark check` names them", unusable.len() - SHOWN));
    }
}

/// Says how many lines of the journal are damaged, where any are: an answer made of the others may lack
/// something.
pub(crate) fn warn_of_damage(history: &History, output: &Output) -> Result<(), Failure> {
    let damaged = history.problems()?.iter().filter(|problem| problem.is_damage()).count();
    if damaged > 0 {
        let lines = count(damaged, "line");
        output.warning(format_args!(
            "{lines} of the journal cannot be used; `stepmark log replay --verify` names them"
        ));
    }
    Ok(())
}
