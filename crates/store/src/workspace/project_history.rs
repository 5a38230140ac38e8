//! A project's history for programs.

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
    /// Queries the current journal, opened on the first call.
    ///
    /// No lock is held during `question`: it may use the same workspace, which then opens the journal again,
    /// and threads do not wait for each other.
    pub fn ask<T>(&self, question: impl FnOnce(&History) -> Result<T, Error>) -> Result<T, Error> {
        // Held only to move the handle.
        let kept = || self.workspace.history.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = kept().take();
        let history = idle.map_or_else(|| History::open(self.workspace.root()), Ok)?;
        let answer = question(&history);
        let _spare = kept().replace(history);
        answer
    }

    /// True if history, HEAD, a checkpoint or a gate knows an artifact at `path`; otherwise a missing path is
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

    /// An unreadable journal knows none: this is a shortcut.
    pub(super) fn last_path(&self, id: &str, elsewhere: &ProjectPath) -> Option<ProjectPath> {
        let key = ArtifactKey::of_id(id);
        let heads = self.ask(|history| history.heads(&key, elsewhere)).ok()?;
        heads.into_iter().rev().find_map(|head| {
            head.artifact.filter(|artifact| artifact.key == key).map(|artifact| artifact.path)
        })
    }
}
