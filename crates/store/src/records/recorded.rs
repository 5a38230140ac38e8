//! Records as history knows them: their last states, those that are lost, and those that were edited.

use crate::checking::KeptDigests;
use crate::git::process::{is_repository, printed};
use crate::history::{History, HistoryError, KnownArtifact};
use crate::workspace::{Workspace, snapshot::OtherFile};
use std::collections::{BTreeMap, BTreeSet};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath, StateDigest},
    journal::{ArtifactKey, Digests},
    tracked_artifact::TrackedArtifact,
};

impl Workspace {
    /// The states of those of `files`, which stand below `folder`, that history has last.
    pub(super) fn last_recorded<E>(
        &self,
        folder: &ProjectPath,
        files: &[OtherFile<E>],
    ) -> BTreeMap<ProjectPath, serde_json::Value> {
        let is_known =
            |paths: &[ProjectPath]| files.iter().any(|(path, _)| paths.binary_search(path).is_ok());
        let ask = || self.history().ask(|history| history.known_below(folder));
        if files.is_empty() || !ask().is_ok_and(|paths| is_known(&paths)) {
            return BTreeMap::new();
        }
        let mut known = self.history().ask(History::artifacts).unwrap_or_default();
        known.retain(|known| !known.goes_on && files.iter().any(|(path, _)| *path == known.path));
        let state = |known: KnownArtifact| Some((known.path.clone(), self.last_state(&known).ok()??));
        known.into_iter().filter_map(state).collect()
    }

    /// The state after the last event of an artifact; none where that took it away.
    pub(crate) fn last_state(
        &self,
        known: &KnownArtifact,
    ) -> Result<Option<serde_json::Value>, HistoryError> {
        let heads = self.history().ask(|history| history.events_with(&known.heads))?;
        let last = heads.iter().max_by_key(|event| event.at);
        Ok(last.and_then(|last| self.history().ask(|history| history.state_after(last.id)).ok()))
    }

    /// The records below `folder` that history knows and that are none of `present`, each with whether its
    /// file is gone. What a command took away is none; nor is what another branch has and this one does not.
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
            // What was taken away by a command, or by an import, has no state.
            if self.last_state(&known)?.is_some_and(|state| state["stepmark_kind"].is_string()) {
                let is_gone = self.read_file(&known.path).is_err();
                lost.push((known.path, is_gone));
            }
        }
        Ok(lost)
    }

    /// Those of `records` that show a state to which no recorded change led, and that are not committed so.
    /// A record of which history knows nothing is none. What stands in `read` is not read again, and the
    /// digests of states are kept under `name`.
    pub(crate) fn unrecorded(
        &self,
        name: &str,
        records: &BTreeSet<ProjectPath>,
        read: &[TrackedArtifact],
    ) -> Result<Vec<ProjectPath>, HistoryError> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let name = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let (kept, mut digests) = (KeptDigests::read(self.root(), &name), BTreeMap::new());
        let mut file_of = |artifact: &Artifact| {
            let file = artifact.file_hash();
            let known = kept.get(&file).map(|state| StateDigest::from_digest(*state.as_bytes()));
            let state = known.or_else(|| Digests::of(artifact).state);
            digests.extend(state.map(|state| (file, FileHash::from_digest(*state.as_bytes()))));
            (ArtifactKey::of(artifact), artifact.path().clone(), Digests { file, state })
        };
        let read = read.iter().filter(|own| records.contains(own.path()));
        let mut files: Vec<_> = read.map(|own| file_of(own.artifact())).collect();
        let known: BTreeSet<ProjectPath> = files.iter().map(|(_, path, _)| path.clone()).collect();
        for path in records.difference(&known) {
            files
                .extend(self.read_file(path).ok().map(|bytes| file_of(&Artifact::read(path.clone(), bytes))));
        }
        // Nothing is asked again while neither the records nor history have changed.
        let told = format!("{} {files:?}", self.history().ask(History::extent)?);
        let (clean, now) = (FileHash::of(b"clean"), FileHash::of(told.as_bytes()));
        let known = match kept.get(&clean) == Some(now) {
            true => vec![true; files.len()],
            false => self.history().ask(|history| history.are_at_heads(&files))?,
        };
        if known.iter().all(|known| *known) {
            digests.insert(clean, now);
        }
        // Without them the next check takes longer.
        let _kept = kept.replace(self.root(), &name, &digests);
        let mut found: Vec<_> = files.into_iter().zip(known).filter(|(_, known)| !known).collect();
        let mut checked_out = self.repository().checked_out();
        found.retain(|((_, path, file), _)| !checked_out.explains(path, Some(*file)));
        Ok(found.into_iter().map(|((_, path, _), _)| path).collect())
    }

    /// Those of `missing` that are missing here: the commit that is checked out or the index has them, or no
    /// commit ever had. What another branch has, or had before it was deleted, is not missing. Where git does
    /// not answer, nobody knows.
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
