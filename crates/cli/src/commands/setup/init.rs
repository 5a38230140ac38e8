//! `stepmark init`

use clap::Args;
use stepmark_store::{changes::Initialised, disk::CONFIGURATION_PATH};

use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project,
};

/// Make `.stepmark/config.yaml` with a project id
///
/// Everything works without it; it is the place for artifact patterns, declared workflows and the project's
/// identity. At the top of a repository with several projects below each gets one of its own; `--root .`
/// makes one project of all.
#[derive(Debug, Args)]
pub(crate) struct Init {}

impl Init {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let initialised = project.workspace.initialise(&new_id())?;
        let root = project.root().path().display();
        if output.json {
            let created = matches!(initialised, Initialised::Created);
            let result = serde_json::json!({
                "root": root.to_string(), "configuration": CONFIGURATION_PATH, "created": created,
            });
            output.json("stepmark.init/1", result);
        }
        match initialised {
            Initialised::Created => output.remark(format_args!("created {CONFIGURATION_PATH} in {root}")),
            Initialised::Existing => {
                output.remark(format_args!("{CONFIGURATION_PATH} is there already in {root}"))
            }
        }
        // What follows frontmatter follows nothing yet.
        let waiting = project.workspace.artifacts()?.artifacts;
        let waiting = waiting.iter().filter(|artifact| artifact.waits_for_import()).count();
        wording::waiting_stories(waiting).iter().for_each(|waiting| output.warning(waiting));
        Ok(Exit::Fine)
    }
}
