//! Words for states that several commands show.

use std::fmt::Display;

use stepmark_core::{
    journal::store::{History, SegmentProblem},
    workflow::{Next, Progress, Step, UnknownNext},
    workspace::{Artifacts, Membership, TrackedArtifact},
};

use super::Output;
use crate::exit::Failure;

/// The workflow with its track where that is not the usual one.
pub(crate) fn workflow(artifact: &TrackedArtifact) -> String {
    use stepmark_core::workflow::Track;
    match artifact.membership() {
        Membership::Member { workflow, .. } => match workflow.chain.track() {
            Track::Create => workflow.name.clone(),
            track => format!("{} ({track})", workflow.name),
        },
        Membership::Ambiguous { candidates } => format!("? {}", candidates.join(" | ")),
        Membership::Missing { name } => format!("? {name}"),
        Membership::None => "-".to_owned(),
    }
}

/// What comes next, on one line.
pub(crate) fn next(progress: &Progress<'_>) -> String {
    let names = |steps: &[&Step]| steps.iter().map(|step| step.name()).collect::<Vec<_>>().join(" | ");
    match &progress.next {
        Next::Step { step, .. } => step.name().to_owned(),
        Next::Choice(steps) => names(steps),
        Next::Finished => "finished".to_owned(),
        Next::Unknown(unknown) => format!("? {}", unknown_next(*unknown)),
    }
}

/// Why it cannot be told what comes next.
pub(crate) const fn unknown_next(unknown: UnknownNext) -> &'static str {
    match unknown {
        UnknownNext::NoSteps => "the workflow has no steps",
        UnknownNext::NothingMatches => "no listed step is one of the workflow",
    }
}

/// `1 error`, `2 errors`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(count: N, word: &str) -> String {
    if count == N::from(1) { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// What could not be read, one line each: folders, then files.
pub(crate) fn unreadable(found: &Artifacts) -> Vec<String> {
    let folders = found.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind));
    let files = found.unreadable.iter().map(|error| crate::exit::chain(error));
    folders.chain(files).collect()
}

/// A line of a segment that cannot be used: `FILE:LINE: WHAT`.
pub(crate) fn segment_problem(problem: &SegmentProblem) -> String {
    format!("{}:{}: {}", problem.place.file_of(&problem.segment), problem.line, problem.problem)
}

/// Says how many lines of the journal are damaged, where any are: an answer made of the others may lack something.
pub(crate) fn warn_of_damage(history: &History, output: &Output) -> Result<(), Failure> {
    let damaged = history.problems()?.iter().filter(|problem| problem.is_damage()).count();
    if damaged > 0 {
        let lines = count(damaged, "line");
        output.warning(format_args!(
            "{lines} of the journal cannot be used; `stepmark replay --verify` tells which"
        ));
    }
    Ok(())
}
