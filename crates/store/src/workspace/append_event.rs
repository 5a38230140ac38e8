//! Events that change no file.

use crate::commit::{self, CommitError, JournalWriteError, LiveSegments, Seal};
use crate::{history::HistoryError, workspace::ProjectHistory};
use stepmark_model::journal::{Event, EventDraft, MOST_HEADS, SegmentName, SessionId};

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A commit that was cut off earlier cannot be finished; that comes first.
    #[error(transparent)]
    Interrupted(#[from] CommitError),
    #[error(transparent)]
    Write(#[from] JournalWriteError),
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl ProjectHistory<'_> {
    /// Adds an event that is about no artifact, such as the start of a session, and returns it when it is on
    /// the disk.
    pub fn append_event(&self, draft: EventDraft) -> Result<Event, AppendError> {
        let attribution = self.workspace.attribution();
        let mut event = Event::new(draft, attribution.actor.clone(), self.workspace.now());
        event.session = attribution.session.clone().map(String::from);
        event.correlation.clone_from(&attribution.correlation);
        let event = event.sealed();
        self.append(std::slice::from_ref(&event))?;
        Ok(event)
    }

    /// Adds events as they are, after those of commits that were cut off.
    pub fn append(&self, events: &[Event]) -> Result<(), AppendError> {
        commit::finish_interrupted(self.workspace.root(), self.workspace.commit_options())?;
        Ok(commit::append_events(self.workspace.root(), events, self.workspace.commit_options().fsync)?)
    }

    /// Moves the live segments of a session (`None`: of commands outside of any) to the tracked journal.
    pub fn seal(&self, session: Option<&SessionId>) -> Result<Vec<SegmentName>, AppendError> {
        self.seal_live(LiveSegments::OfSession(session.map(SessionId::as_str)))
    }

    pub(crate) fn seal_live(&self, live: LiveSegments<'_>) -> Result<Vec<SegmentName>, AppendError> {
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        commit::finish_interrupted(root, options)?;
        let seal = Seal { heads: self.ask(|history| history.tips(MOST_HEADS))?, at: self.workspace.now() };
        Ok(commit::seal_segments(root, live, seal, options.fsync)?)
    }
}
