//! `stepmark checkpoint`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, EventId, SegmentName},
    projection::checkpoint::Checkpoint as Kept,
};
use stepmark_store::checkpoints::{CheckpointMade, CheckpointReadError};

use crate::{
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
            (place, checkpoint.map_err(|error: CheckpointReadError| crate::exit::chain(&error)))
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
