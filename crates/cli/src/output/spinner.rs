//! Progress of long work on a terminal: shown after one second, removed at the end.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use super::Output;
use crate::exit::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stepmark_store::{
    history::{History, SegmentProblem},
    workspace::{Artifacts, Workspace},
};

pub(crate) use stepmark_view::wording::{count, next, waiting_stories};

const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

pub(crate) fn with_spinner<T>(what: &str, quiet: bool, count: &AtomicUsize, work: impl FnOnce() -> T) -> T {
    with_progress(&|count| format!("{what}: {count} files"), quiet, count, work)
}

pub(crate) fn with_progress<T>(
    message: &(dyn Fn(usize) -> String + Sync),
    quiet: bool,
    count: &AtomicUsize,
    work: impl FnOnce() -> T,
) -> T {
    let before = count.load(Ordering::Relaxed);
    let (done, finished) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if quiet || finished.recv_timeout(PATIENCE) != Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(ProgressStyle::default_spinner());
            while finished.recv_timeout(TICK) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                bar.set_message(message(count.load(Ordering::Relaxed) - before));
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}

/// One line each: folders, then files.
pub(crate) fn unreadable(found: &Artifacts) -> Vec<String> {
    let folders = found.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind));
    let files = found.unreadable.iter().map(|error| crate::exit::chain(error));
    folders.chain(files).collect()
}

/// `FILE:LINE: WHAT`
pub(crate) fn segment_problem(problem: &SegmentProblem) -> String {
    format!("{}:{}: {}", problem.file, problem.line, problem.problem)
}

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

/// Without damaged lines an answer may be incomplete.
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
