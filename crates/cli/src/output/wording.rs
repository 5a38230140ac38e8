//! Words for states that several commands show.

use stepmark_core::{
    workflow::{Next, Progress, Step, UnknownNext},
    workspace::{Artifacts, Membership, TrackedArtifact},
};

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
pub(crate) fn count(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// What could not be read, one line each: folders, then files.
pub(crate) fn unreadable(found: &Artifacts) -> Vec<String> {
    let folders = found.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind));
    let files = found.unreadable.iter().map(|error| crate::exit::chain(error));
    folders.chain(files).collect()
}
