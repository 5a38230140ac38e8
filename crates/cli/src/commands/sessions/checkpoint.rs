//! `stepmark checkpoint`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use stepmark_model::artifact::ProjectPath;
use stepmark_store::{Error, checkpoints::CheckpointMade};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
    project::Project,
};

const SCHEMA: &str = "stepmark.checkpoint-list/1";

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
                if output.json {
                    output.json("stepmark.checkpoint-made/1", made_wire(&made));
                }
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

fn made_wire(made: &CheckpointMade) -> Json {
    let mut wire = wire(&made.place, Ok(&made.checkpoint));
    wire["sealed"] = made.sealed.iter().map(ToString::to_string).collect();
    wire
}

fn wire(
    place: &ProjectPath,
    read: Result<&stepmark_model::projection::checkpoint::Checkpoint, String>,
) -> Json {
    match read {
        Ok(checkpoint) => json!({
            "checkpoint": place.to_string(),
            "key": checkpoint.key.to_string(),
            "path": checkpoint.path.to_string(),
            "event": checkpoint.event.to_string(),
            "git_commit": checkpoint.git_commit,
            "at": checkpoint.at.to_string(),
            "message": checkpoint.message,
            "state_digest": checkpoint.state_digest.to_string(),
            "problem": null,
        }),
        Err(problem) => json!({"checkpoint": place.to_string(), "problem": problem}),
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
        let checkpoints: Vec<Json> = read
            .iter()
            .map(|(place, checkpoint)| wire(place, checkpoint.as_ref().map_err(Clone::clone)))
            .collect();
        output.json(
            SCHEMA,
            json!({"path": path.to_string(), "checkpoints": list.keep_fields(checkpoints)?, "more": more}),
        );
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
        if more > 0 {
            output.remark(format_args!("and {more} more"));
        }
    }
    Ok(if is_whole { Exit::Fine } else { Exit::Findings })
}
