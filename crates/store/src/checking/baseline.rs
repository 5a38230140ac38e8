//! Writing the baseline of a project.

use std::collections::BTreeMap;

use crate::checking::{BASELINE_PATH, CheckError, CheckReport, Checks};
use crate::commit::{CommitError, Expected, Outcome, replace_whole};
use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    check::{Baseline, Finding},
};

#[derive(Debug, thiserror::Error)]
pub enum BaselineWriteError {
    #[error(transparent)]
    Read(#[from] CheckError),
    #[error(transparent)]
    Place(#[from] ProjectPathError),
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl Checks<'_> {
    /// Adds the findings of `find` in the bytes of the file at `path`, by the policy of the project, without
    /// those that the baseline knows. A file that cannot be read has no bytes.
    pub fn add_beside(
        &self,
        report: &mut CheckReport<'_>,
        path: ProjectPath,
        find: impl FnOnce(&[u8]) -> Vec<Finding>,
    ) -> Result<(), CheckError> {
        let bytes = self.workspace.read_file(&path).unwrap_or_default();
        let findings = find(&bytes);
        let baseline = self.workspace.baseline_bytes()?;
        let mut baseline = baseline.as_deref().map_or_else(|| Ok(Baseline::default()), Baseline::read)?;
        let judged = self.workspace.policy_at(&path, |policy| policy.judge_beside(findings));
        report.add_beside(path, bytes, judged, &mut baseline);
        Ok(())
    }

    /// Adds findings in files beside the artifacts, each file read once.
    pub(super) fn add_all_beside(
        &self,
        report: &mut CheckReport<'_>,
        findings: impl IntoIterator<Item = Finding>,
    ) -> Result<(), CheckError> {
        let mut files: BTreeMap<ProjectPath, Vec<Finding>> = BTreeMap::new();
        for finding in findings {
            files.entry(finding.path.clone()).or_default().push(finding);
        }
        files.into_iter().try_for_each(|(path, found)| self.add_beside(report, path, |_| found))
    }

    /// Writes a baseline that knows the findings of `report`, and says how many. Nothing is written where it
    /// knows them already.
    pub fn write_baseline(&self, report: &CheckReport<'_>) -> Result<usize, BaselineWriteError> {
        let baseline = Baseline::of(report.findings());
        let path = ProjectPath::new(BASELINE_PATH)?;
        let found = self.workspace.baseline_bytes()?;
        let expected = Expected::of(found.as_deref());
        let bytes = baseline.to_bytes();
        let _outcome: Outcome =
            replace_whole(self.workspace.root(), &path, expected, &bytes, self.workspace.commit_options())?;
        Ok(baseline.len())
    }
}
