//! `stepmark remove`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stepmark_model::artifact::ProjectPath;

use crate::{
    arguments::reason,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Remove an artifact, and record in history who did and why
///
/// So a commit of it passes the check (SM907), and other clones see the reason. Bytes that git does not have,
/// in the commit that is checked out or the index, and an artifact that work was delegated from are only
/// removed with --force.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The artifact
    artifact: PathBuf,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
    /// Also remove bytes that git does not have, and what work was delegated from
    #[arg(long)]
    force: bool,
}

impl Remove {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = project.artifact_path(&self.artifact)?;
        project.workspace.remove(&path, self.reason.clone(), self.force)?;
        let named_in = project.workspace.checks().artifacts_that_name(&path)?;
        let named_in: Vec<&str> = named_in.iter().map(ProjectPath::as_str).collect();
        output.json_or(
            "stepmark.remove/1",
            || json!({ "path": path.as_str(), "named_in": named_in }),
            || {
                output.remark(format_args!("{path}: removed"));
                for other in &named_in {
                    output.warning(format_args!(
                        "{other} names it as an input document (SM402): a commit is refused until that is corrected; \
                         `stepmark check {other}` shows the place"
                    ));
                }
            },
        );
        Ok(Exit::Fine)
    }
}
