//! `stepmark undo`

use clap::Args;

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
    event: String,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Undo {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let event = project.workspace.history().ask(|history| history.event(&self.event))?;
        let carried = project.workspace.undo(&event, self.reason.reason())?;
        change::report(output, &carried)?;
        Ok(Exit::Fine)
    }
}
