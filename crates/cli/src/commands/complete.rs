//! `stepmark complete`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::transition::{Command, Strictness};

use super::change;
use crate::{
    arguments::InsistArguments,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Add steps to the completed ones of an artifact
///
/// The new item copies the spelling of its neighbours. `lastStep`, `currentStep` and `current_step` come along where
/// they exist; `status` is never touched. A step that is listed already changes nothing, and one that the workflow does not have is refused.
/// The step that finishes a workflow is refused while work that was delegated from the artifact is open.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The artifact
    artifact: PathBuf,
    /// The steps, in any spelling: `step-03-success`, `3`, `03`
    #[arg(required = true)]
    steps: Vec<String>,
    /// Refuse a step that is not the next one, instead of warning
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    insist: InsistArguments,
}

impl Complete {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let insistence = self.insist.insistence();
        let strictness = match (self.strict, &insistence) {
            (true, _) => Strictness::Refuse,
            (false, Some(_)) => Strictness::Warn,
            (false, None) => Strictness::Known,
        };
        let command = Command::Complete { steps: self.steps.clone() };
        change::carry_out_insisting(project, output, &self.artifact, (&command, strictness), insistence)
    }
}
