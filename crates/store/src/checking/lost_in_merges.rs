//! Work on one branch that a merge lost, as history tells.

use crate::history::History;
use crate::projection::file_findings::FileFindings;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    check::rules::history::steps_removed,
    journal::ArtifactKey,
};

impl Workspace {
    /// The artifacts whose history has several ends, of which the file lacks one.
    pub(crate) fn lost_in_merges(&self) -> Vec<FileFindings> {
        // What is wrong with the journal itself is found by `doctor`.
        let forked = self.history().ask(History::forked).unwrap_or_default();
        forked.into_iter().filter_map(|known| self.lost_in_merge(&known.key, known.path)).collect()
    }

    fn lost_in_merge(&self, key: &ArtifactKey, path: ProjectPath) -> Option<FileFindings> {
        let artifact = Artifact::read(path.clone(), self.read_file(&path).ok()?);
        let state = artifact.state_value().ok()?;
        let lineage = self.history().ask(|history| history.lineage(key, &path)).ok()?;
        let lost = self.history().ask(|history| history.lost_in_merge(&lineage, &state)).ok()??;
        let findings = vec![steps_removed::lost_in_merge(&artifact, &state, &lineage, lost)?];
        Some(FileFindings { bytes: artifact.bytes().to_vec(), path, findings })
    }
}
