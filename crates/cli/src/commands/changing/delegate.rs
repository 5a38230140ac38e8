//! `stepmark delegate`

use std::path::PathBuf;

use clap::Args;
use stepmark_store::changes::{ChangeError, Delegated, DelegationOrder};

use crate::{
    commands::memory,
    environment::new_id,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Give work to an agent in an artifact of its own
///
/// Makes the child artifact with its place in the chain of delegation. A parent without an id gets one, and
/// becomes the root of a chain; both files change together or not at all. `stepmark tree` shows who works on
/// what.
#[derive(Debug, Args)]
pub(crate) struct Delegate {
    /// The artifact that the work is given from
    parent: PathBuf,
    /// Who is to do it
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// What is to be done, as Markdown; its first line is the title
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The file to make; without it `AGENT-ID.md` in `delegation.folder`, or beside the parent in
    /// `PARENT.delegations/`
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
}

/// The most random names that are tried where a file has each of them already.
const ATTEMPTS: usize = 3;

impl Delegate {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if self.to.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, "an agent needs a name: `--to writer`"));
        }
        let parent = project.artifact_path(&self.parent)?;
        let file = self.file.as_deref().map(|file| project.path(file)).transpose()?;
        let mut attempt = 1;
        let delegated = loop {
            let (child_id, parent_id) = (new_id(), new_id());
            let order = DelegationOrder {
                parent: &parent,
                agent: self.to.trim(),
                task: self.task.as_deref(),
                file: file.as_ref(),
                child_id: &child_id,
                parent_id: &parent_id,
            };
            match project.workspace.delegations().delegate(&order) {
                Err(ChangeError::Exists { .. }) if file.is_none() && attempt < ATTEMPTS => attempt += 1,
                done => break done?,
            }
        };
        let memory = memory::handed_over(project, Some(parent.as_str()), output);
        self.report(output, (parent.as_str(), &memory), &delegated);
        Ok(Exit::Fine)
    }

    fn report(&self, output: &Output, (parent, memory): (&str, &str), delegated: &Delegated) {
        let Delegated { child, position: place, parent_was_changed } = delegated;
        output.json_or(
            "stepmark.delegate/1",
            || {
                serde_json::json!({
                    "path": child.as_str(),
                    "parent": parent,
                    "to": self.to.trim(),
                    "id": place.id(),
                    "depth": place.depth(),
                    "chain_path": place.chain(),
                    "parent_changed": parent_was_changed,
                    "memory": memory,
                })
            },
            || {
                output.line(format_args!("{child}"));
                memory.lines().for_each(|line| output.remark(line));
            },
        );
    }
}
