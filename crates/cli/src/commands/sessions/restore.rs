//! `stepmark restore`

use std::path::PathBuf;

use clap::Args;
use stepmark_frontmatter::Fences;
use stepmark_model::artifact::{FileHash, ProjectPath};
use stepmark_store::{checkpoints::Restored, commit::Outcome};

use super::checkpoint;
use crate::{
    arguments::ReasonArguments,
    commands::changing::change,
    exit::{Exit, Failure},
    output::{ListArguments, Output},
    project::Project,
};

/// Put the frontmatter of a checkpoint back, to the byte, and keep the body
///
/// Works on a damaged file too: that is kept whole beside the checkpoint first. Where the closing fence is
/// missing, the lines that look like frontmatter are replaced, and all from the first that does not stays.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The artifact
    artifact: PathBuf,
    /// The checkpoint, or `latest`; without it they are listed
    #[arg(long, value_name = "CHECKPOINT")]
    from: Option<PathBuf>,
    #[command(flatten)]
    reason: ReasonArguments,
}

answers! { Answer<'a>
    /// `restore`: what was put back
    "stepmark.restore/1" Restore {
        path: &'a ProjectPath, checkpoint: &'a ProjectPath, changed: bool, kept: Option<&'a ProjectPath>,
        remarks: Vec<String>, file_hash: FileHash,
    }
}

impl Restore {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let Some(from) = &self.from else {
            let listed = checkpoint::list(project, output, &self.artifact, &ListArguments::default())?;
            output.remark("`--from CHECKPOINT` puts one back, `--from latest` the newest");
            return Ok(listed);
        };
        let path = project.artifact_path(&self.artifact)?;
        let place = match from.to_str() {
            Some("latest") => {
                let newest = project.workspace.checkpoints().places(&path)?.into_iter().next();
                newest.ok_or_else(|| {
                    let message = format!("`{path}` has no checkpoint");
                    Failure::new(Exit::Usage, message)
                        .with_help(format!("`stepmark resume {path}` says what history knows"))
                })?
            }
            _ => project.path(from)?,
        };
        let restored = project.workspace.checkpoints().restore(&path, &place, self.reason.reason())?;
        output.answer(|| Answer::Restore {
            path: &path,
            checkpoint: &place,
            changed: restored.outcome != Outcome::Unchanged,
            kept: restored.kept.as_ref(),
            remarks: restored.remarks.iter().map(ToString::to_string).collect(),
            file_hash: restored.artifact.artifact().file_hash(),
        });
        report(output, &restored);
        Ok(Exit::Fine)
    }
}

fn report(output: &Output, restored: &Restored) {
    let path = restored.artifact.path();
    match restored.fences {
        Fences::Whole => {}
        Fences::Missing => output.warning(format_args!("{path}: there were no fences; they were put before the text")),
        Fences::Unclosed { replaced_lines } => output.warning(format_args!(
            "{path}: there was no closing fence; {replaced_lines} lines that look like frontmatter were replaced, and \
             all that follows stays: look at it"
        )),
    }
    if let Some(kept) = &restored.kept {
        output.remark(format_args!("{path}: the damaged file is kept in `{kept}`"));
    }
    let done = (restored.outcome != Outcome::Unchanged)
        .then(|| format!("restored to its state of {}", restored.checkpoint.at));
    let remarks = restored.remarks.iter().map(|remark| (remark, remark.to_string()));
    change::tell(output, &restored.artifact, remarks, done);
}
