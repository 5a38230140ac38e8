//! Words for states that several commands show.

use stepmark_core::{
    workflow::{Next, Progress, Step, UnknownNext},
    workspace::{Membership, TrackedArtifact},
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
        Next::Unknown(UnknownNext::NoSteps) => "? the workflow has no steps".to_owned(),
        Next::Unknown(UnknownNext::NothingMatches) => "? no listed step is one of the workflow".to_owned(),
    }
}
