//! The project's constitution: the document that all work must follow.

use super::Flows;
use stepmark_model::artifact::{Artifact, FileHash, ProjectPath};
#[cfg(feature = "write")]
use stepmark_model::journal::EventDraft;

/// The constitution as it is now. Nothing of it is kept: the events of flows name its digest.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Constitution {
    pub path: ProjectPath,
    /// The SHA-256 of its bytes; `None` where it cannot be read.
    pub digest: Option<FileHash>,
    pub schema_version: Option<String>,
    pub updated_at: Option<String>,
}

impl Flows<'_> {
    pub fn constitution(&self) -> Option<Constitution> {
        let path = self.workspace.configuration().project.constitution.clone()?;
        let bytes = self.workspace.read_file(&path).ok();
        let artifact = bytes.map(|bytes| Artifact::read(path.clone(), bytes));
        let state = artifact.as_ref().and_then(|artifact| artifact.state_value().ok());
        let said = |keys: [&str; 2]| {
            let value = keys.iter().find_map(|key| state.as_ref()?.get(key))?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        Some(Constitution {
            digest: artifact.as_ref().map(Artifact::file_hash),
            schema_version: said(["schema_version", "version"]),
            updated_at: said(["updated_at", "updated"]),
            path,
        })
    }

    #[cfg(feature = "write")]
    pub(super) fn naming_constitution(&self, draft: EventDraft) -> EventDraft {
        match self.constitution().and_then(|constitution| constitution.digest) {
            Some(digest) => draft.with("constitution", digest.to_string()),
            None => draft,
        }
    }
}
