//! The reasons why a move is refused.

use super::AWAITING;
use crate::artifact::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AutodevRefusal {
    #[error("step {step} `{name}` is `{status}`: {legal}")]
    Status { step: String, name: String, status: String, legal: &'static str },
    #[error(
        "a step is never `{status}`: `stepmark set {file} status={likely} --force --reason TEXT` corrects it (SMD05)"
    )]
    UnknownStatus { file: ProjectPath, status: String, likely: &'static str },
    #[error(
        "step {step} is `{name}`, not `{noted}`: `stepmark autodev detect --write` corrects the name; where the number is wrong, correct that (SMD04)"
    )]
    WrongName { step: u16, name: String, noted: String },
    #[error("the flow `{flow}` is done: `stepmark autodev start --flow NAME` begins another one")]
    Done { flow: String },
    #[error(
        "step {step} `{name}` failed {retries} times: look at it; a person goes on with `stepmark autodev retry --reset`"
    )]
    Failed { step: String, name: String, retries: u64 },
    #[error("the flow `{flow}` has no step {step}: `stepmark autodev detect` says where the project is")]
    UnknownStep { flow: String, step: String },
    #[error("step {step} `{name}` is not optional: complete it, or `--force` with the reason")]
    NotOptional { step: u16, name: String },
    #[error("phase {phase} does not follow phase {now}: the next is {}", now + 1)]
    Phase { phase: u64, now: u64 },
    #[error("a phase of this step is called `{name}` already: give the next one a name of its own")]
    NameAgain { name: String },
    #[error("`{name}` is no name of a phase: write it in kebab-case, as `batch-loop`")]
    Name { name: String },
    #[error("`{AWAITING}` is the name of phase 0 alone")]
    Reserved,
    #[error("only a person begins a failed step again: run it without `STEPMARK_ACTOR`, or as `human:NAME`")]
    NotHuman,
}
