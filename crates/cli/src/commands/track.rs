//! `stepmark track`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::transition::{Command, Strictness};

use super::change;
use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Give artifacts an id that stays when they are renamed
///
/// Adds `stepmark_id` where the frontmatter has neither `id` nor `stepmark_id`.
#[derive(Debug, Args)]
pub(crate) struct Track {
    /// The artifacts
    #[arg(required = true)]
    artifacts: Vec<PathBuf>,
}

impl Track {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        for artifact in &self.artifacts {
            let command = Command::Track { id: new_id() };
            change::carry_out(project, output, artifact, &command, Strictness::Warn)?;
        }
        Ok(Exit::Fine)
    }
}
