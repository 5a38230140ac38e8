//! The history of a project, as a program works with it.

use std::sync::PoisonError;

use crate::history::{History, HistoryError};
use crate::workspace::Workspace;

/// The history of a project.
#[derive(Clone, Copy, Debug)]
pub struct ProjectHistory<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The history of the project.
    pub const fn history(&self) -> ProjectHistory<'_> {
        ProjectHistory { workspace: self }
    }
}

impl ProjectHistory<'_> {
    /// Asks the journal of the project, as it is now. It is opened on the first call.
    ///
    /// No lock is held while `question` runs: it may ask, change or resume through the same workspace, which then opens the journal
    /// once more, and threads do not wait for each other.
    ///
    /// # Errors
    /// When the journal cannot be read, and what `question` answers.
    pub fn ask<T>(
        &self,
        question: impl FnOnce(&History) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        // Held for the length of a move only.
        let kept = || self.workspace.history.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = kept().take();
        let history = idle.map_or_else(|| History::open(self.workspace.root()), Ok)?;
        let answer = question(&history);
        let _spare = kept().replace(history);
        answer
    }
}
