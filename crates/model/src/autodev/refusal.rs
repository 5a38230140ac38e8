//! The reasons why a move is refused.

use super::AWAITING;
use crate::artifact::ProjectPath;

/// A reason why a move is refused, and what would be legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AutodevRefusal {
    /// The status does not allow it.
    #[error("step {step} `{name}` is `{status}`: {legal}")]
    Status {
        /// The step.
        step: String,
        /// Its name.
        name: String,
        /// Its status.
        status: String,
        /// The legal way.
        legal: &'static str,
    },
    /// The status is a word that no step has, and the files of the project do not tell the right one.
    #[error(
        "a step is never `{status}`: `stepmark set {file} status={likely} --force --reason TEXT` corrects it (SMD05)"
    )]
    UnknownStatus {
        /// The state file.
        file: ProjectPath,
        /// The status.
        status: String,
        /// The status that it probably has.
        likely: &'static str,
    },
    /// The name is not that of the step.
    #[error(
        "step {step} is `{name}`, not `{noted}`: `stepmark autodev detect --write` corrects the name; where the number is wrong, correct that (SMD04)"
    )]
    WrongName {
        /// The step.
        step: u16,
        /// Its name.
        name: String,
        /// The name that is noted.
        noted: String,
    },
    /// All steps are done.
    #[error("the flow `{flow}` is done: `stepmark autodev start --flow NAME` begins another one")]
    Done {
        /// The flow.
        flow: String,
    },
    /// The step failed three times.
    #[error(
        "step {step} `{name}` failed {retries} times: look at it; a person goes on with `stepmark autodev retry --reset`"
    )]
    Failed {
        /// The step.
        step: String,
        /// Its name.
        name: String,
        /// The number of failed retries.
        retries: u64,
    },
    /// The flow has no such step, so that nothing follows from it.
    #[error("the flow `{flow}` has no step {step}: `stepmark autodev detect` says where the project is")]
    UnknownStep {
        /// The flow.
        flow: String,
        /// The step.
        step: String,
    },
    /// A step that may not be left out.
    #[error("step {step} `{name}` is not optional: complete it, or `--force` with the reason")]
    NotOptional {
        /// The step.
        step: u16,
        /// Its name.
        name: String,
    },
    /// A phase out of order.
    #[error("phase {phase} does not follow phase {now}: the next is {}", now + 1)]
    Phase {
        /// The phase.
        phase: u64,
        /// The phase that is noted.
        now: u64,
    },
    /// A name that is not in kebab-case.
    #[error("`{name}` is no name of a phase: write it in kebab-case, as `batch-loop`")]
    Name {
        /// The name.
        name: String,
    },
    /// The reserved name at another phase than 0.
    #[error("`{AWAITING}` is the name of phase 0 alone")]
    Reserved,
    /// Only a person may do it.
    #[error("only a person begins a failed step again: run it without `STEPMARK_ACTOR`, or as `human:NAME`")]
    NotHuman,
}
