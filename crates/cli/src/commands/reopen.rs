//! `stepmark reopen`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::transition::{Command, Strictness};

use super::change;
use crate::{
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
}

impl Reopen {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let command = Command::Reopen { steps: self.steps.clone() };
        change::carry_out(project, output, &self.artifact, &command, Strictness::Warn)
    }
}
