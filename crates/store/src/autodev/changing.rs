//! Changing the state file of autodev.

use stepmark_model::{
    autodev::{AutodevMove, AutodevRefusal, Detection, Position, PositionError, decide, first_file},
    journal::{ActorKind, EventDraft, Kind},
    tracked_artifact::TrackedArtifact,
    transition::Plan,
};

use super::{Autodev, AutodevStatusError};
use crate::changes::{ChangeError, UpdateError};
use crate::commit::FileDecision;

/// A reason why a move of autodev was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AutodevError {
    /// The state of autodev cannot be told.
    #[error(transparent)]
    Status(#[from] AutodevStatusError),
    /// The move is refused.
    #[error(transparent)]
    Refused(#[from] AutodevRefusal),
    /// The state file says no position, and nothing is guessed.
    #[error(
        "the state file says no position: `stepmark autodev detect --write` notes what the files of the project tell"
    )]
    Unreadable(#[source] PositionError),
    /// There is no state file.
    #[error("there is no state file `{file}`: `stepmark autodev start` makes it")]
    NotBegun {
        /// The state file.
        file: stepmark_model::artifact::ProjectPath,
    },
    /// It cannot be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// A move that was made.
#[derive(Debug)]
pub struct Moved {
    /// The state file as it is now.
    pub artifact: TrackedArtifact,
    /// The position before.
    pub before: Position,
    /// The position after.
    pub after: Position,
    /// True if the file was changed.
    pub is_changed: bool,
}

impl Autodev<'_> {
    /// Makes `made`, for a reason that history keeps; `is_forced` skips a step that is not optional.
    ///
    /// # Errors
    /// When it is refused, the state file says no position, or it cannot be changed.
    pub fn make(
        &self,
        made: &AutodevMove,
        reason: Option<String>,
        is_forced: bool,
    ) -> Result<Moved, AutodevError> {
        let flows = self.flows().map_err(AutodevStatusError::from)?;
        let is_human = self.workspace.attribution().actor.kind == ActorKind::Human;
        let draft = EventDraft::new(Kind::CHANGE)
            .with_command(format!("autodev {}", made.name()))
            .with_reason(reason);
        let mut before = None;
        let carried = self.workspace.update_telling(self.file(), &draft, |artifact| {
            let noted = Position::of(artifact.artifact()).map_err(AutodevError::Unreadable)?;
            let flow = noted.flow(&flows).ok_or_else(|| AutodevStatusError::UnknownFlow {
                flow: noted.flow.clone(),
                known: flows.iter().map(|flow| flow.flow.clone()).collect(),
            })?;
            let edits = decide(flow, &noted, made, (is_human, is_forced))?;
            before = Some(noted);
            Ok::<_, AutodevError>(Plan { edits, remarks: Vec::new() })
        });
        let carried = carried.map_err(|error| match error {
            UpdateError::Refused { source, .. } => source,
            UpdateError::Change(ChangeError::Artifact(crate::workspace::ArtifactError::Missing { path })) => {
                AutodevError::NotBegun { file: path }
            }
            UpdateError::Change(error) => error.into(),
        })?;
        let after = Position::of(carried.artifact.artifact()).map_err(AutodevError::Unreadable)?;
        let before = before.unwrap_or_else(|| after.clone());
        Ok(Moved { artifact: carried.artifact, is_changed: before != after, before, after })
    }

    /// Makes the state file where it is not there, at the step that the files of the project tell.
    ///
    /// # Errors
    /// When the files do not tell, or it cannot be made.
    pub fn begin(&self) -> Result<bool, AutodevError> {
        let status = self.status()?;
        if status.noted.is_some() {
            return Ok(false);
        }
        let step = match status.detection {
            Detection::Elsewhere(Some(number)) => status.flow.step(number),
            _ => status.flow.steps.last(),
        };
        let Some(step) = step else { return Ok(false) };
        let text = first_file(&status.flow, step);
        let draft = EventDraft::new(Kind::CHANGE).with_command("autodev start".to_owned());
        let paths = [self.file().clone()];
        crate::commit::make_folders_to(
            self.workspace.root(),
            self.file(),
            self.workspace.commit_options().fsync,
        )
        .map_err(|error| ChangeError::from(crate::commit::CommitError::from(error)))?;
        self.workspace.change_files(
            &paths,
            |_| draft.clone(),
            |found| {
                let decision = match found.first().copied().flatten() {
                    Some(_) => FileDecision::Keep,
                    None => FileDecision::Write(text.clone().into_bytes()),
                };
                Ok(vec![decision])
            },
        )?;
        Ok(true)
    }

    /// Notes the step that the files of the project tell, where they disagree with what is noted. History
    /// keeps both.
    ///
    /// # Errors
    /// When it cannot be changed.
    pub fn correct(&self) -> Result<Option<Moved>, AutodevError> {
        let status = self.status()?;
        match (status.position(), &status.detection) {
            (Some(_), Detection::Elsewhere(to)) => {
                let reason = format!(
                    "the files of the project are in step {}",
                    to.map_or("done".to_owned(), |to| to.to_string())
                );
                self.make(&AutodevMove::Correct(*to), Some(reason), false).map(Some)
            }
            _ => Ok(None),
        }
    }
}
