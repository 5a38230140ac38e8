//! Traces of a file that is gone.

use crate::history::{History, HistoryError, Selection};
use crate::workspace::ProjectHistory;
use stepmark_model::{artifact::ProjectPath, journal::ArtifactKey};

impl ProjectHistory<'_> {
    /// Returns whether anything tells that there was an artifact at `path`: history, the commit that is checked out, a checkpoint, or a gate.
    /// Else a path where nothing is was never that of one: it is misspelt.
    ///
    /// # Errors
    /// When history cannot be read.
    pub fn remembers(&self, path: &ProjectPath) -> Result<bool, HistoryError> {
        let key = ArtifactKey::of_path(path);
        let selection = Selection { artifact: Some((&key, path)), limit: Some(1), ..Selection::default() };
        let is_told = |history: &History| history.select(selection).map(|events| !events.is_empty());
        Ok(self.workspace.history().ask(is_told)?
            || self.workspace.repository().checked_out().has(path)
            || self.workspace.checkpoints().places(path).is_ok_and(|places| !places.is_empty())
            || self.workspace.gates().of(path).is_ok_and(|gates| !gates.is_empty()))
    }
}
