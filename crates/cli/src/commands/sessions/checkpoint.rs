//! `stepmark checkpoint` and `restore`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use stepmark_frontmatter::Fences;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::{ArtifactKey, EventId, SegmentName},
    projection::checkpoint::Checkpoint as Kept,
};
use stepmark_store::{
    Error,
    checkpoints::{CheckpointMade, Restored},
    commit::Outcome,
};

use crate::{
    arguments::ReasonArguments,
    commands::changing::change,
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, table},
    project::Project,
};

/// Keep the frontmatter of an artifact, to resume from it or to put it back
///
/// The file stands under `.stepmark/checkpoints/` and is meant to be committed; the journal of the session is
/// sealed with it, so that history reaches git too.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Checkpoint {
    #[command(subcommand)]
    action: Option<Action>,
    /// The artifact
    artifact: Option<PathBuf>,
    /// What to remember it by
    #[arg(short, long)]
    message: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// The checkpoints of an artifact, the newest first
    List {
        /// The artifact
        artifact: PathBuf,
        #[command(flatten)]
        list: ListArguments,
    },
}

impl Checkpoint {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match (&self.action, &self.artifact) {
            (Some(Action::List { artifact, list }), _) => self::list(project, output, artifact, list),
            (None, Some(artifact)) => {
                let made = project
                    .workspace
                    .checkpoints()
                    .make(&project.artifact_path(artifact)?, self.message.as_deref())?;
                output.answer(|| Answer::Made {
                    checkpoint: CheckpointRow::of(&made.place, Ok(&made.checkpoint)),
                    sealed: &made.sealed,
                });
                report(output, &made);
                Ok(Exit::Fine)
            }
            (None, None) => Err(Failure::new(Exit::Usage, "an artifact is wanted")),
        }
    }
}

pub(crate) fn report(output: &Output, made: &CheckpointMade) {
    let message = made.checkpoint.message.as_ref().map(|message| format!(" ({message})"));
    let path = &made.checkpoint.path;
    output.remark(format_args!("{path}: checkpoint{} {}", message.unwrap_or_default(), made.place));
}

answers! { Answer<'a>
    /// `checkpoint`: the one that was made
    "stepmark.checkpoint-made/1" Made {
        #[serde(flatten)] checkpoint: CheckpointRow<'a>, sealed: &'a [SegmentName],
    }
    /// `checkpoint list`: those of an artifact
    "stepmark.checkpoint-list/1" List {
        path: &'a ProjectPath, checkpoints: Vec<Row<CheckpointRow<'a>>>, more: usize,
    }
    /// `restore`: what was put back
    "stepmark.restore/1" Restore {
        path: &'a ProjectPath, checkpoint: &'a ProjectPath, changed: bool, kept: Option<&'a ProjectPath>,
        remarks: Vec<String>, file_hash: FileHash,
    }
    struct CheckpointRow<'a> {
        checkpoint: &'a ProjectPath, #[serde(flatten)] read: Option<ReadRow<'a>>, problem: Option<&'a str>,
    }
    struct ReadRow<'a> {
        key: &'a ArtifactKey, path: &'a ProjectPath, event: EventId, git_commit: Option<&'a str>,
        at: Timestamp, message: Option<&'a str>, state_digest: String,
    }
}

impl<'a> CheckpointRow<'a> {
    fn of(checkpoint: &'a ProjectPath, read: Result<&'a Kept, &'a String>) -> Self {
        let row = |kept: &'a Kept| ReadRow {
            key: &kept.key,
            path: &kept.path,
            event: kept.event,
            git_commit: kept.git_commit.as_deref(),
            at: kept.at,
            message: kept.message.as_deref(),
            state_digest: kept.state_digest.to_string(),
        };
        Self { checkpoint, read: read.ok().map(row), problem: read.err().map(String::as_str) }
    }
}

pub(super) fn list(
    project: &Project,
    output: &Output,
    artifact: &Path,
    list: &ListArguments,
) -> Result<Exit, Failure> {
    let path = project.known_path(artifact)?;
    let mut places = project.workspace.checkpoints().places(&path)?;
    let more = list.cut(&mut places);
    let read: Vec<_> = places
        .into_iter()
        .map(|place| {
            let checkpoint = project.workspace.checkpoints().at(&place);
            (place, checkpoint.map_err(|error: Error| crate::exit::chain(&error)))
        })
        .collect();
    let is_whole = read.iter().all(|(_, checkpoint)| checkpoint.is_ok());
    if output.json {
        let checkpoints =
            list.keep_fields(read.iter().map(|(place, read)| CheckpointRow::of(place, read.as_ref())))?;
        output.answer(|| Answer::List { path: &path, checkpoints, more });
    } else if read.is_empty() {
        output.remark(format_args!("`{path}` has no checkpoint: `stepmark checkpoint {path}` makes one"));
    } else {
        let rows = read.iter().map(|(place, checkpoint)| match checkpoint {
            Ok(checkpoint) => vec![
                checkpoint.at.to_string(),
                checkpoint.message.clone().unwrap_or_else(|| "-".to_owned()),
                place.to_string(),
            ],
            Err(problem) => vec!["?".to_owned(), problem.clone(), place.to_string()],
        });
        output.line(table(&["AT", "MESSAGE", "CHECKPOINT"], rows));
        list.remark_more(more, output);
    }
    Ok(if is_whole { Exit::Fine } else { Exit::Findings })
}

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

impl Restore {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let Some(from) = &self.from else {
            let listed = list(project, output, &self.artifact, &ListArguments::default())?;
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
        tell(output, &restored);
        Ok(Exit::Fine)
    }
}

fn tell(output: &Output, restored: &Restored) {
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
