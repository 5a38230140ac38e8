//! Work on one branch that a merge lost, as history tells.

use crate::checking::{CheckError, CheckReport, Checks};
use crate::history::History;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    check::{Finding, rules::history::lost_in_merge},
    journal::ArtifactKey,
};

impl Checks<'_> {
    /// Adds the artifacts whose history has several ends, of which the file lacks one.
    pub fn add_lost_in_merges(&self, report: &mut CheckReport<'_>) -> Result<(), CheckError> {
        for known in self.workspace.history().ask(History::forked)? {
            let is_told = |lost: &Finding| {
                report.findings().any(|found| found.path == lost.path && found.rule.id == lost.rule.id)
            };
            if let Some(finding) = self.lost_in_merge(&known.key, &known.path)?.filter(|lost| !is_told(lost))
            {
                self.add_beside(report, known.path, |_| vec![finding])?;
            }
        }
        Ok(())
    }

    fn lost_in_merge(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Option<Finding>, CheckError> {
        let Ok(bytes) = self.workspace.read_file(path) else { return Ok(None) };
        let artifact = Artifact::read(path.clone(), bytes);
        let Ok(state) = artifact.state_value() else { return Ok(None) };
        let lineage = self.workspace.history().ask(|history| history.lineage(key, path))?;
        let lost = self.workspace.history().ask(|history| history.lost_in_merge(&lineage, &state))?;
        Ok(lost.and_then(|lost| lost_in_merge(&artifact, &state, &lineage, lost)))
    }
}
