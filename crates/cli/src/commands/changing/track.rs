//! `stepmark track`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::{
    journal::ArtifactKey,
    transition::{Command, Strictness},
};
use stepmark_store::changes::ChangeReason;

use super::change;
use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project,
};

/// Give artifacts an id that stays when they are renamed
///
/// Adds `stepmark_id` where the frontmatter has neither `id` nor `stepmark_id`. What cannot be edited is
/// reported, and the others get theirs.
#[derive(Debug, Args)]
pub(crate) struct Track {
    /// The artifacts
    #[arg(required_unless_present = "all")]
    artifacts: Vec<PathBuf>,
    /// All artifacts of the project that have none
    #[arg(long, conflicts_with = "artifacts")]
    all: bool,
}

impl Track {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let artifacts = if self.all { without_id(project, output)? } else { self.artifacts.clone() };
        let mut exit = Exit::Fine;
        for artifact in &artifacts {
            let command = Command::Track { id: new_id() };
            let command = (&command, Strictness::Warn);
            let tracked = project
                .artifact_path(artifact)
                .and_then(|path| change::execute(project, output, &path, command, ChangeReason::Unsaid));
            if let Err(failure) = tracked {
                let told = output.failure(&failure);
                // The first one counts.
                exit = if exit == Exit::Fine { told } else { exit };
            }
        }
        if artifacts.is_empty() {
            output.remark("every artifact has an id");
        }
        Ok(exit)
    }
}

fn without_id(project: &Project, output: &Output) -> Result<Vec<PathBuf>, Failure> {
    let found = project.workspace.artifacts()?;
    wording::unreadable(&found).iter().for_each(|problem| output.warning(problem));
    let without = found.artifacts.iter().filter(|tracked| ArtifactKey::of(tracked.artifact()).is_path());
    Ok(without.map(|tracked| project.root().path().join(tracked.path().as_str())).collect())
}
