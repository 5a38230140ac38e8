//! Checking what changed between two states of a repository: the facts that rules ask for come from git.

use super::{
    ChangedArtifact, CheckError, GitVersion, TrackedArtifact, Workspace, journal_account::JournalAccount,
};
use crate::{
    artifact::ProjectPath,
    check::{self, Finding, Past, Subject, Surroundings},
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
        let check_one = |changed: &ChangedArtifact| match changed {
            ChangedArtifact::Present { now, before } => {
                self.check_change(now, before.as_deref(), &surroundings)
            }
            ChangedArtifact::Deleted { before } => {
                let progress = before.progress();
                Ok(check::deletion_findings(&Subject::alone(before.artifact(), progress.as_ref())))
            }
        };
        changed.iter().map(check_one).collect()
    }

    fn check_change(
        &self,
        now: &TrackedArtifact,
        before: Option<&TrackedArtifact>,
        surroundings: &dyn Surroundings,
    ) -> Result<Vec<Finding>, CheckError> {
        let progress = now.progress();
        let subject =
            Subject { surroundings: Some(surroundings), ..Subject::alone(now.artifact(), progress.as_ref()) };
        let Some(before) = before else { return Ok(check::findings(&subject)) };
        let account = JournalAccount::new(self, before.artifact(), now.artifact());
        let past_progress = before.progress();
        let past = Past {
            artifact: before.artifact(),
            progress: past_progress.as_ref(),
            lifecycle: before.lifecycle().map(|choice| &*choice.lifecycle),
            account: Some(&account),
        };
        let findings = check::findings(&Subject { past: Some(past), ..subject });
        account.failure()?;
        Ok(findings)
    }
}
