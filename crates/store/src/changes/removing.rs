//! Removing artifacts.

use crate::changes::ChangeError;
use crate::commit::FileDecision;
use crate::disk::WalkError;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::{
    artifact::ProjectPath,
    journal::{EventDraft, Kind},
    tracked_artifact::TrackedArtifact,
};

impl Workspace {
    /// Removes the file of an artifact; history keeps what its frontmatter said, who removed it and why. The bytes of the file are where git
    /// has them.
    ///
    /// # Errors
    /// When it is not there, or cannot be removed.
    pub fn remove(&self, path: &ProjectPath, reason: Option<String>) -> Result<(), ChangeError> {
        let draft = EventDraft::new(Kind::DELETE).with_command(format!("remove {path}")).with_reason(reason);
        let outcomes = self.change_files(
            std::slice::from_ref(path),
            |_| draft.clone(),
            |found| match *found {
                [Some(_)] => Ok(vec![FileDecision::Delete]),
                _ => Err(ArtifactError::Missing { path: path.clone() }.into()),
            },
        );
        outcomes.map(drop)
    }

    /// The artifacts that name the file at `path` as an input document.
    ///
    /// # Errors
    /// When the root cannot be listed.
    pub fn artifacts_that_name(&self, path: &ProjectPath) -> Result<Vec<ProjectPath>, WalkError> {
        let names = |found: &TrackedArtifact| {
            let mut documents = found.artifact().state().input_documents.iter();
            documents.any(|document| document.candidates(found.path()).contains(path))
        };
        let found = self.artifacts()?.artifacts;
        Ok(found.into_iter().filter(names).map(|found| found.path().clone()).collect())
    }
}
