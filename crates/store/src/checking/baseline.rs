//! Writing the baseline of a project.

use crate::checking::{BASELINE_PATH, CheckError, CheckReport, Checks};
use crate::commit::{CommitError, Expected, Outcome, replace_whole};
use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    check::Baseline,
};

/// A reason why a baseline was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineWriteError {
    /// The one that is there cannot be read.
    #[error(transparent)]
    Read(#[from] CheckError),
    /// Its place is none in a project.
    #[error(transparent)]
    Place(#[from] ProjectPathError),
    /// It cannot be written, or somebody else wrote it meanwhile.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl Checks<'_> {
    /// Writes a baseline that knows the findings of `report`, and says how many. Nothing is written where it
    /// knows them already.
    ///
    /// # Errors
    /// When the file cannot be read or written; then it is as it was.
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
