//! `stepmark reopen`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::transition::{Command, Strictness};
use stepmark_store::changes::ChangeReason;

use super::change;
use crate::{
    arguments::reason,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

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
        change::carry_out(project, output, &path, (&command, Strictness::Warn), reason)
    }
}
