//! Checking what changed between two states of a repository: the facts that rules ask for come from git.

use super::{ChangedArtifact, CheckError, GitVersion, TrackedArtifact, Workspace};
use crate::{
    artifact::ProjectPath,
    check::{self, Finding, Subject, Surroundings},
};

/// The files of the newer state.
struct InVersion<'v>(&'v GitVersion);

impl Surroundings for InVersion<'_> {
    fn exists(&self, path: &ProjectPath) -> bool {
        // Where git fails here it has failed for the artifacts already, which is an error.
        self.0.holds(path).unwrap_or(true)
    }
}

impl Workspace {
    /// What is wrong with each of `changed`, in their order: with what it is now, and with what became of it. Chains of
    /// delegation and gates are not looked at: they take files that are not in the change.
    ///
    /// # Errors
    /// When history, which may explain a change, cannot be read.
    pub fn check_changes(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Vec<Vec<Finding>>, CheckError> {
        let surroundings = InVersion(version);
        let check_one = |changed: &ChangedArtifact| {
            let ChangedArtifact::Present { now, before } = changed else { return Ok(Vec::new()) };
            let progress = now.progress();
            let subject = Subject {
                surroundings: Some(&surroundings),
                before: before.as_deref().map(TrackedArtifact::artifact),
                ..Subject::alone(now.artifact(), progress.as_ref())
            };
            Ok(check::findings(&subject))
        };
        changed.iter().map(check_one).collect()
    }
}
