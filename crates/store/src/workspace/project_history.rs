//! The history of a project, as a program works with it.

use std::sync::PoisonError;

use crate::Error;
use crate::history::{History, Selection};
use crate::workspace::Workspace;
use stepmark_model::{artifact::ProjectPath, journal::ArtifactKey};

#[derive(Clone, Copy, Debug)]
pub struct ProjectHistory<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn history(&self) -> ProjectHistory<'_> {
        ProjectHistory { workspace: self }
    }
}

impl ProjectHistory<'_> {
    /// Asks the journal of the project, as it is now. It is opened on the first call.
    ///
    /// No lock is held while `question` runs: it may ask, change or resume through the same workspace, which
    /// then opens the journal once more, and threads do not wait for each other.
    pub fn ask<T>(&self, question: impl FnOnce(&History) -> Result<T, Error>) -> Result<T, Error> {
        // Held for the length of a move only.
        let kept = || self.workspace.history.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = kept().take();
        let history = idle.map_or_else(|| History::open(self.workspace.root()), Ok)?;
        let answer = question(&history);
        let _spare = kept().replace(history);
        answer
    }

    /// Returns whether anything tells that there was an artifact at `path`: history, the commit that is
    /// checked out, a checkpoint, or a gate. Else a path where nothing is was never that of one: it is
    /// misspelt.
    pub fn remembers(&self, path: &ProjectPath) -> Result<bool, Error> {
        let key = ArtifactKey::of_path(path);
        let selection = Selection { artifact: Some((&key, path)), limit: Some(1), ..Selection::default() };
        let is_told = |history: &History| history.select(selection).map(|events| !events.is_empty());
        Ok(self.ask(is_told)?
            || self.workspace.repository().checked_out().has(path)
            || self.workspace.checkpoints().places(path).is_ok_and(|places| !places.is_empty())
            || self.workspace.gates().of(path).is_ok_and(|gates| !gates.is_empty()))
    }

    /// The path where history last saw the artifact with `id`. An unreadable journal knows none: a short cut.
    pub(super) fn last_path(&self, id: &str, elsewhere: &ProjectPath) -> Option<ProjectPath> {
        let key = ArtifactKey::of_id(id);
        let heads = self.ask(|history| history.heads(&key, elsewhere)).ok()?;
        heads.into_iter().rev().find_map(|head| {
            head.artifact.filter(|artifact| artifact.key == key).map(|artifact| artifact.path)
        })
    }
}
