//! `stepmark set`

use std::path::PathBuf;

use clap::Args;
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::transition::{Command, Strictness};
use stepmark_store::changes::ChangeReason;

use super::change;
use crate::{
    arguments::ReasonArguments,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Give values to keys of an artifact's frontmatter
///
/// VALUE is read as YAML: `3`, `true`, `null`, `[a, b]`, and text for all else; `--text` takes it as text.
/// What readers would not give back as it is typed, such as `1.10` or `010`, is text too, unless a number
/// stands there. A `status` obeys the artifact's lifecycle, as with `transition`; a step that the workflow
/// does not have is refused; one that says the work is finished is refused while work that was delegated from
/// the artifact is open.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The artifact
    artifact: PathBuf,
    /// `KEY=VALUE`; KEY is `status`, `delegation.id`, `slices[0].status`, or a JSON pointer
    #[arg(required = true, value_name = "KEY=VALUE")]
    assignments: Vec<String>,
    /// Take every VALUE as text, even `3` and `true`
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Set {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let assignments =
            self.assignments.iter().map(|assignment| self.read(assignment)).collect::<Result<_, _>>()?;
        let command = Command::Set { assignments };
        let reason = self.reason.reason();
        let path = project.artifact_path(&self.artifact)?;
        let is_forced = matches!(reason, ChangeReason::Forced(_));
        let strictness = if is_forced { Strictness::Warn } else { Strictness::Known };
        change::execute(project, output, &path, (&command, strictness), reason)
    }

    fn read(&self, assignment: &str) -> Result<(KeyPath, Value), Failure> {
        let (key, value) = assignment.split_once('=').ok_or_else(|| {
            Failure::new(Exit::Usage, format!("`{assignment}` is no assignment"))
                .with_help("write KEY=VALUE, for instance `status=in-review`")
        })?;
        let path: KeyPath = key.parse().map_err(|error| Failure::from_error(Exit::Usage, &error))?;
        if self.text {
            return Ok((path, Value::from(value)));
        }
        let value = Value::from_argument(value).map_err(|error| {
            Failure::from_error(Exit::Usage, &error).with_help("`--text` takes it as text")
        })?;
        Ok((path, value))
    }
}
