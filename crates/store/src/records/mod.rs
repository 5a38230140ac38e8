//! Records of systems on the disk: a Markdown file each.

pub(crate) mod snapshot;

#[cfg(feature = "write")]
use crate::git::process::{is_repository, printed};
#[cfg(feature = "write")]
use crate::history::{History, HistoryError};
#[cfg(feature = "write")]
use std::collections::BTreeSet;
use stepmark_frontmatter::{Span, merge_conflict, merge_sides};
use stepmark_model::artifact::ProjectPath;
#[cfg(feature = "write")]
use stepmark_model::{
    artifact::Artifact,
    journal::{ArtifactKey, Digests},
};

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
        present: &BTreeSet<ProjectPath>,
    ) -> Result<Vec<(ProjectPath, bool)>, HistoryError> {
        let history = self.history();
        let mut missing = history.ask(|history| history.known_below(folder))?;
        missing.retain(|path| path.extension() == Some("md") && !present.contains(path));
        let missing = self.missing_here(folder, missing);
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
            if was_record {
                let is_gone = self.read_file(&known.path).is_err();
                lost.push((known.path, is_gone));
            }
        }
        Ok(lost)
    }

    /// Those of `records` that show a state to which no recorded change led, and that are not committed so.
    /// A record of which history knows nothing is none.
    #[cfg(feature = "write")]
    pub(crate) fn unrecorded(
        &self,
        records: &BTreeSet<ProjectPath>,
    ) -> Result<Vec<ProjectPath>, HistoryError> {
        let read = |path: &ProjectPath| {
            let artifact = Artifact::read(path.clone(), self.read_file(path).ok()?);
            Some((ArtifactKey::of(&artifact), path.clone(), Digests::of(&artifact)))
        };
        let files: Vec<_> = records.iter().filter_map(read).collect();
        let known = self.history().ask(|history| history.are_at_heads(&files))?;
        let mut found: Vec<_> = files.into_iter().zip(known).filter(|(_, known)| !known).collect();
        let mut checked_out = self.repository().checked_out();
        found.retain(|((_, path, file), _)| !checked_out.explains(path, Some(*file)));
        Ok(found.into_iter().map(|((_, path, _), _)| path).collect())
    }

    /// Those of `missing` that are missing here: the commit that is checked out or the index has them, or no
    /// commit ever had. What another branch has, or had before it was deleted, is not missing. Where git does
    /// not answer, nobody knows.
    #[cfg(feature = "write")]
    fn missing_here(&self, folder: &ProjectPath, missing: Vec<ProjectPath>) -> BTreeSet<ProjectPath> {
        let root = self.root();
        if missing.is_empty() || !is_repository(root) {
            return missing.into_iter().collect();
        }
        let listed = |arguments: &[&str]| -> Option<BTreeSet<String>> {
            let text = printed(root, &[arguments, &["--", folder.as_str()]].concat())?;
            Some(text.split('\0').map(|path| path.trim().to_owned()).collect())
        };
        const EVER: [&str; 9] = [
            "log",
            "--all",
            "--reflog",
            "--format=",
            "--name-only",
            "-z",
            "--relative",
            "--no-renames",
            "--diff-filter=A",
        ];
        let head = listed(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]).unwrap_or_default();
        let index = listed(&["ls-files", "-z", "--cached"]).unwrap_or_default();
        // The commits of a shallow clone are not all that there were.
        let is_shallow = printed(root, &["rev-parse", "--is-shallow-repository"])
            .is_none_or(|text| text.trim() != "false");
        let ever = if is_shallow { None } else { listed(&EVER) };
        let is_here = |path: &ProjectPath| {
            let path = path.as_str();
            head.contains(path)
                || index.contains(path)
                || ever.as_ref().is_some_and(|ever| !ever.contains(path))
        };
        missing.into_iter().filter(is_here).collect()
    }
}
