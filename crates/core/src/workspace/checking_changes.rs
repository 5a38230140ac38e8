//! Checking what changed between two states of a repository: the facts that rules ask for come from git.

use super::{
    BASELINE_PATH, ChangedArtifact, CheckError, CheckReport, GitVersion, TrackedArtifact, Workspace,
    journal_account::JournalAccount,
};
use crate::{
    artifact::ProjectPath,
    check::{self, Baseline, Group, Judged, Past, Subject, Surroundings},
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
    /// delegation and gates are not looked at: they take files that are not in the change. The baseline is that of the newer
    /// state.
    ///
    /// # Errors
    /// When git does not answer, the baseline cannot be used, or history, which may explain a change, cannot be read.
    pub fn check_changes<'t>(
        &self,
        changed: &'t [ChangedArtifact],
        version: &GitVersion,
    ) -> Result<CheckReport<'t>, CheckError> {
        let surroundings = InVersion(version);
        let mut baseline = match ProjectPath::new(BASELINE_PATH).ok().map(|path| version.read(&path)) {
            Some(bytes) => bytes?.map_or(Ok(Baseline::default()), |bytes| Baseline::read(&bytes))?,
            None => Baseline::default(),
        };
        let mut report = CheckReport::default();
        for changed in changed {
            let judged = match changed {
                ChangedArtifact::Present { now, before } => {
                    self.check_change(now, before.as_deref(), &surroundings)?
                }
                ChangedArtifact::Deleted { before } => self.check_deletion(before),
            };
            report.add(changed.latest().artifact(), judged, &mut baseline);
        }
        Ok(report)
    }

    fn check_change(
        &self,
        now: &TrackedArtifact,
        before: Option<&TrackedArtifact>,
        surroundings: &dyn Surroundings,
    ) -> Result<Judged, CheckError> {
        let progress = now.progress();
        let subject = Subject {
            lifecycle: now.lifecycle().map(|choice| &*choice.lifecycle),
            surroundings: Some(surroundings),
            ..Subject::alone(now.artifact(), progress.as_ref())
        };
        let Some(before) = before else {
            return Ok(self.by_policy(&subject, check::findings(&subject)));
        };
        let account = JournalAccount::new(self, before.artifact(), now.artifact());
        let past_progress = before.progress();
        let past = Past {
            artifact: before.artifact(),
            progress: past_progress.as_ref(),
            lifecycle: before.lifecycle().map(|choice| &*choice.lifecycle),
            account: Some(&account),
        };
        let subject = Subject { past: Some(past), ..subject };
        let judged = self.by_policy(&subject, check::findings(&subject));
        account.failure()?;
        Ok(judged)
    }

    fn check_deletion(&self, before: &TrackedArtifact) -> Judged {
        let progress = before.progress();
        let subject = Subject::alone(before.artifact(), progress.as_ref());
        let mut judged = self.by_policy(&subject, check::deletion_findings(&subject));
        // The suppressions of a file that is gone are nobody's business.
        judged.findings.retain(|finding| finding.rule.group != Group::Suppressions);
        judged
    }
}
