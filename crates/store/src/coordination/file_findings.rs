//! The state of the files that follow the records, and what a check finds in them.

use super::{Coordination, RecordsError};
use crate::git::{GitVersion, GitVersionError};
use crate::projection::{
    audit::{FileProblem, problems},
    record_format::{Files, RecordFormat},
};
use crate::repository::ChangedArtifact;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    check::{
        Finding,
        rules::systems::{projection_behind, projection_damaged, projection_drift},
    },
    coordination::{Drift, Format, State},
    records::RecordSet as _,
};

/// A file beside the artifacts, and what is wrong with it.
pub(crate) struct FileFindings {
    pub(crate) path: ProjectPath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) findings: Vec<Finding>,
}

/// The files of a format, each with what is wrong with it.
type FileProblems = Vec<(ProjectPath, Option<FileProblem<Drift>>)>;

/// A file that follows the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The file.
    pub path: ProjectPath,
    /// Its state: `current`, `behind`, `drift`, `damaged` or `gone`.
    pub state: &'static str,
    /// The ids of the records that another program changed in it.
    pub drift: Vec<String>,
}

impl Workspace {
    /// The records of the project's coordination in `version`, where it has some that can be read, and one of
    /// them is `changed`, or a file that follows them.
    ///
    /// # Errors
    /// When git does not answer.
    pub(crate) fn records_touched(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<State>, GitVersionError> {
        let Some(coordination) = self.coordination() else { return Ok(None) };
        let folder = &coordination.settings.folder;
        let mut is_touched = changed.iter().any(|changed| changed.latest().path().starts_with(folder));
        for path in coordination.format().paths() {
            is_touched = is_touched || version.is_changed(&path)?;
        }
        if !is_touched {
            return Ok(None);
        }
        let records =
            version.files_in(folder)?.into_iter().filter(|(path, _)| path.extension() == Some("md"));
        let records: Result<Vec<_>, _> =
            records.map(|(path, bytes)| coordination.read_bytes(&path, bytes)).collect();
        // One that is damaged has findings of its own.
        Ok(records.ok().and_then(|records| State::from_records(records.into_iter().flatten())))
    }
}

impl Coordination<'_> {
    /// The files of the configured format that are there or were written here, each with its state.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn file_states(&self) -> Result<Vec<FileState>, RecordsError> {
        let read = |path: &ProjectPath| self.workspace.read_file(path).ok();
        let (_, problems) = self.file_problems(&self.state()?, read);
        let state = |(path, problem): (ProjectPath, Option<FileProblem<Drift>>)| {
            let (state, drift) = problem.map_or(("current", Vec::new()), FileProblem::named);
            FileState { path, state, drift: drift.into_iter().map(|drift| drift.id).collect() }
        };
        Ok(problems.into_iter().map(state).collect())
    }

    /// The files that `read` gives, and what is wrong with each where the records are `state`.
    fn file_problems(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> (Files, FileProblems) {
        let format = self.format();
        let read = |path: ProjectPath| read(&path).map(|bytes| (path, bytes));
        let found: Files = format.paths().into_iter().filter_map(read).collect();
        let problems = problems(self.workspace.root(), &format, state, &found);
        (found, problems)
    }

    /// The findings in the files of the configured format, where the records are `state` and `read` gives a
    /// file (`None`: there is none, or it cannot be read). Those of option C are written when somebody asks
    /// for it, so that they may be older than the records.
    pub(crate) fn file_findings(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        let commands = [self.format().import(), self.format().project()];
        let is_old_as_wanted = self.settings.format == Format::OrchestratorState;
        let (mut found, problems) = self.file_problems(state, read);
        let findings = |path: &ProjectPath, bytes: &[u8], problem: FileProblem<Drift>| match problem {
            FileProblem::Behind if is_old_as_wanted => Vec::new(),
            FileProblem::Behind => vec![projection_behind::finding(path, commands[1])],
            FileProblem::Damaged => vec![projection_damaged::finding(path, false, commands[1])],
            FileProblem::Gone => vec![projection_damaged::finding(path, true, commands[1])],
            FileProblem::Drift(drift) => drift
                .iter()
                .map(|own| projection_drift::finding(path, bytes, (&own.id, own.change.name()), commands))
                .collect(),
        };
        let file = |(path, problem): (ProjectPath, Option<FileProblem<Drift>>)| {
            let bytes = found.remove(&path).unwrap_or_default();
            let findings = findings(&path, &bytes, problem?);
            Some(FileFindings { path, bytes, findings })
        };
        problems.into_iter().filter_map(file).collect()
    }
}
