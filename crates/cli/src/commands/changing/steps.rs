//! `stepmark complete` and `stepmark reopen`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::transition::{Command, Strictness};
use stepmark_store::changes::ChangeReason;

use super::change;
use crate::{
    arguments::{ReasonArguments, reason},
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Add steps to the completed ones of an artifact
///
/// The new item copies the spelling of its neighbours. `lastStep`, `currentStep` and `current_step` come
/// along where they exist; `status` is never touched. A step that is listed already changes nothing, and one
/// that the workflow does not have is refused. The step that finishes a workflow is refused while work that
/// was delegated from the artifact is open.
#[derive(Debug, Args)]
#[command(override_usage = "stepmark complete [OPTIONS] [ARTIFACT] <STEP>...")]
pub(crate) struct Complete {
    /// The artifact, then the steps in any spelling: `step-03-success`, `3`, `03`; steps alone are those of
    /// the active artifact: that of the configuration, else the last one worked on that is not finished
    #[arg(required = true, value_name = "ARTIFACT|STEP")]
    words: Vec<String>,
    /// Refuse a step that is not the next one, instead of warning
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Complete {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let reason = self.reason.reason();
        let strictness = match (self.strict, &reason) {
            (true, _) => Strictness::Refuse,
            (false, ChangeReason::Forced(_)) => Strictness::Warn,
            (false, _) => Strictness::Known,
        };
        let (artifact, steps) = project.artifact_and_steps(&self.words)?;
        let command = Command::Complete { steps: steps.to_vec() };
        change::execute(project, output, &artifact, (&command, strictness), reason)
    }
}

/// Take steps out of the completed ones of an artifact
#[derive(Debug, Args)]
pub(crate) struct Reopen {
    /// The artifact
    artifact: PathBuf,
    /// The steps, in any spelling
    #[arg(required = true)]
    steps: Vec<String>,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
}

impl Reopen {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let command = Command::Reopen { steps: self.steps.clone() };
        let path = project.artifact_path(&self.artifact)?;
        let reason = ChangeReason::said(self.reason.clone());
        change::execute(project, output, &path, (&command, Strictness::Warn), reason)
    }
}
