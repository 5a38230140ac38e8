//! Records of systems on the disk: a Markdown file each.

pub(crate) mod snapshot;

#[cfg(feature = "write")]
use crate::git::process::{is_repository, printed};
#[cfg(feature = "write")]
use crate::history::{History, HistoryError};
use stepmark_frontmatter::{Span, merge_conflict, merge_sides};
use stepmark_model::artifact::ProjectPath;

use crate::workspace::{ArtifactError, Workspace};

impl Workspace {
    /// The bytes of the record at `path`; of one in which git left two versions those of our side, by which
    /// other records are decided on. It is changed itself when that is resolved.
    pub(crate) fn read_record(&self, path: &ProjectPath) -> Result<Vec<u8>, ArtifactError> {
        let bytes = self.read_file(path)?;
        if merge_conflict(&bytes, Span::new(0, bytes.len())).is_none() {
            return Ok(bytes);
        }
        let sides = std::str::from_utf8(&bytes).ok().and_then(merge_sides);
        Ok(sides.map(|[(_, ours), _]| ours.into_bytes()).unwrap_or(bytes))
    }

    /// The records below `folder` that history knows and that are none of `present`, each with whether its
    /// file is gone. What a command took away is none; nor is what another branch has and this one does not.
    #[cfg(feature = "write")]
    pub(crate) fn lost_records(
        &self,
        folder: &ProjectPath,
        present: impl Fn(&ProjectPath) -> bool,
    ) -> Result<Vec<(ProjectPath, bool)>, HistoryError> {
        let history = self.history();
        let mut missing = history.ask(|history| history.known_below(folder))?;
        missing.retain(|path| path.extension() == Some("md") && !present(path));
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let mut lost = Vec::new();
        for known in history.ask(History::artifacts)? {
            if known.goes_on || !missing.contains(&known.path) {
                continue;
            }
            let heads = history.ask(|history| history.events_with(&known.heads))?;
            let Some(last) = heads.iter().max_by_key(|event| event.at) else { continue };
            // What was taken away by a command, or by an import, has no state.
            let state = history.ask(|history| history.state_after(last.id));
            let was_record = state.is_ok_and(|state| state["stepmark_kind"].is_string());
            if was_record && self.belongs_here(&known.path) {
                let is_gone = !self.root().path().join(known.path.as_str()).exists();
                lost.push((known.path, is_gone));
            }
        }
        Ok(lost)
    }

    /// Returns whether the commit that is checked out has the file, or none of the repository has.
    #[cfg(feature = "write")]
    fn belongs_here(&self, path: &ProjectPath) -> bool {
        let root = self.root();
        let says = |arguments: &[&str]| printed(root, arguments).is_some_and(|text| !text.trim().is_empty());
        !is_repository(root)
            || says(&["ls-tree", "--name-only", "HEAD", "--", path.as_str()])
            || !says(&["rev-list", "--all", "--max-count=1", "--", path.as_str()])
    }
}
