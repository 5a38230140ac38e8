//! Findings that only history tells: work that a merge lost, records that are gone or were edited.

use crate::checking::{CheckError, CheckReport, Checks};
use crate::history::History;
#[cfg(feature = "write")]
use std::collections::BTreeSet;
#[cfg(feature = "write")]
use stepmark_model::{
    artifact::Kind,
    check::rules::systems::{record_edited_finding, record_lost_finding, record_unusable_finding},
    lifecycle::{Choice, LifecycleSource},
    records::RecordSet,
    tracked_artifact::TrackedArtifact,
};
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

#[cfg(feature = "write")]
impl Checks<'_> {
    /// Adds the records of systems that history knows and that are gone, those to whose state no recorded
    /// change led, and the first file among them that is none: of the systems whose folder `is_meant`. What
    /// stands in `read` is not read again.
    pub fn add_records(
        &self,
        report: &mut CheckReport<'_>,
        read: &[TrackedArtifact],
        is_meant: impl Fn(&ProjectPath) -> bool,
    ) -> Result<(), CheckError> {
        if let Some(own) = self.workspace.asdd().filter(|own| is_meant(&own.settings().folder)) {
            let records = own.state().map(|state| paths(&state, |kind, id| own.path_of(kind, id).ok()));
            let records = records.map_err(|error| error.unusable());
            self.add_records_of((report, read), &own.settings().folder, records, "`stepmark asdd rebuild`")?;
        }
        let is_recorded = |kind: Option<&Kind>| kind.is_some_and(|kind| kind.is_recorded);
        let declared = self.workspace.configuration().lifecycles().declared();
        if declared.iter().any(|own| is_recorded(own.kind.as_deref())) {
            let found = self.workspace.artifacts()?;
            let is_own = |choice: &Choice| {
                choice.source == LifecycleSource::Declared && is_recorded(choice.kind.as_deref())
            };
            let own = found.artifacts.iter().filter(|own| own.lifecycle().is_some_and(is_own));
            let paths = own.map(|own| own.path().clone()).filter(|path| is_meant(path)).collect();
            self.add_edited(report, &paths, &found.artifacts)?;
        }
        if let Some(own) = self.workspace.coordination().filter(|own| is_meant(&own.settings().folder)) {
            let records = own.state().map(|state| paths(&state, |kind, id| own.path_of(kind, id).ok()));
            let records = records.map_err(|error| error.unusable());
            self.add_records_of((report, read), &own.settings().folder, records, "`git restore FILE`")?;
        }
        Ok(())
    }

    fn add_edited(
        &self,
        report: &mut CheckReport<'_>,
        recorded: &BTreeSet<ProjectPath>,
        read: &[TrackedArtifact],
    ) -> Result<(), CheckError> {
        for path in self.workspace.unrecorded(recorded, read)? {
            let finding = record_edited_finding(&path);
            self.add_beside(report, path, |_| vec![finding])?;
        }
        Ok(())
    }

    /// The same of one system, whose records stand at `present`; or the one that is none, and why.
    fn add_records_of(
        &self,
        (report, read): (&mut CheckReport<'_>, &[TrackedArtifact]),
        folder: &ProjectPath,
        present: Result<BTreeSet<ProjectPath>, Option<(ProjectPath, String)>>,
        command: &str,
    ) -> Result<(), CheckError> {
        let present = match present {
            Ok(present) => present,
            Err(Some((path, reason))) => {
                let finding = record_unusable_finding(&path, reason);
                return self.add_beside(report, path, |_| vec![finding]);
            }
            Err(None) => return Ok(()),
        };
        self.add_edited(report, &present, read)?;
        for (path, is_gone) in self.workspace.lost_records(folder, &present)? {
            let finding = record_lost_finding(&path, is_gone, &command.replace("FILE", path.as_str()));
            self.add_beside(report, path, |_| vec![finding])?;
        }
        Ok(())
    }
}

#[cfg(feature = "write")]
fn paths<S: RecordSet>(
    state: &S,
    path_of: impl Fn(S::Kind, &str) -> Option<ProjectPath>,
) -> BTreeSet<ProjectPath> {
    state.records().filter_map(|record| path_of(record.kind, &record.id)).collect()
}
