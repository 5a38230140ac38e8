//! `stepmark undo`

use clap::Args;
use stepmark_model::journal::{Event, Kind};
use stepmark_store::history::Selection;

use super::change;
use crate::{
    arguments::ReasonArguments,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Take back what an event changed, as a new event
///
/// History is never rewritten. What the event changed is written again as it was before, to the byte where
/// nothing beside it was changed since. What was changed elsewhere stays; a value that was changed again is
/// not touched, and the undo is refused. Records that a command changed together, as a task with its agent,
/// are taken back together.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The event: its id, or the first digits of it; `stepmark log` shows them
    ///
    /// Without one the last change is named, and nothing is written.
    event: Option<String>,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Undo {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let Some(event) = &self.event else { return Err(unnamed(project)?) };
        let event = project.workspace.history().ask(|history| history.event(event))?;
        let carried = project.workspace.undo(&event, self.reason.reason())?;
        change::report(output, &carried);
        Ok(Exit::Fine)
    }
}

fn unnamed(project: &Project) -> Result<Failure, Failure> {
    let events = project.workspace.history().ask(|history| history.select(Selection::default()))?;
    let is_change = |event: &&Event| ![Kind::FIRST_SEEN, Kind::CHECKPOINT].contains(&event.kind);
    let last = events.iter().filter(is_change).find_map(|event| Some((event, event.artifact.as_ref()?)));
    let Some((event, artifact)) = last else {
        return Ok(Failure::new(Exit::Usage, "no event is named, and no change of an artifact is recorded"));
    };
    let (did, path) = (event.command.as_deref().unwrap_or(event.kind.as_str()), project.seen(&artifact.path));
    let message = format!("no event is named; the last change is `{did}` in `{path}` by {}", event.actor);
    let id = &event.id.to_string()[..12];
    Ok(Failure::new(Exit::Usage, message).with_help(format!("`stepmark undo {id}` takes it back")))
}
