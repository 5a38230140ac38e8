//! Findings that need history: work lost in a merge, records that are missing or edited.

use crate::Error;
use crate::checking::{CheckReport, Checks};
use crate::history::History;
use std::collections::BTreeSet;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    check::{Finding, rules::bmad::ticket_finding, rules::history::lost_in_merge},
    journal::ArtifactKey,
};
use stepmark_model::{
    check::rules::systems::{record_edited_finding, record_lost_finding, record_unusable_finding},
    tracked_artifact::TrackedArtifact,
};

impl Checks<'_> {
    /// Adds artifacts whose history has several heads, one of which the file lacks.
    pub fn add_lost_in_merges(&self, report: &mut CheckReport<'_>) -> Result<(), Error> {
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

    fn lost_in_merge(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Option<Finding>, Error> {
        let Ok(bytes) = self.workspace.read_file(path) else { return Ok(None) };
        let artifact = Artifact::read(path.clone(), bytes);
        let Ok(state) = artifact.state_value() else { return Ok(None) };
        let lineage = self.workspace.history().ask(|history| history.lineage(key, path))?;
        let lost = self.workspace.history().ask(|history| history.lost_in_merge(&lineage, &state))?;
        Ok(lost.and_then(|lost| lost_in_merge(&artifact, &state, &lineage, lost)))
    }
}

impl Checks<'_> {
    /// Adds missing records, records in states that no recorded change led to, and files that are not
    /// records, of systems whose folder `is_meant`. Files in `read` are not read again.
    pub fn add_records(
        &self,
        report: &mut CheckReport<'_>,
        read: &[TrackedArtifact],
        is_meant: impl Fn(&ProjectPath) -> bool,
    ) -> Result<(), Error> {
        if let Some(own) = self.workspace.asdd().filter(|own| is_meant(&own.settings().folder)) {
            let (folder, paths) = (&own.settings().folder, own.record_paths());
            self.add_records_of((report, read), folder, paths, "`stepmark asdd rebuild`")?;
        }
        self.add_claimed(report, &is_meant)?;
        let tickets = self.workspace.tickets();
        let reused = self.workspace.reused_ids(&tickets)?;
        let of_tickets = tickets.problems().chain(reused).map(ticket_finding);
        let of_bmad = self.workspace.bmad_findings().into_iter().chain(of_tickets);
        self.add_all_beside(report, of_bmad.filter(|finding| is_meant(&finding.path)))?;
        if let Some(own) = self.workspace.flows().filter(|own| is_meant(own.folder())) {
            let edited = own.edited_records()?;
            let mut present = self.workspace.history().ask(|history| history.known_below(own.folder()))?;
            present.retain(|path| {
                edited.iter().any(|(_, own)| own == path) || self.workspace.read_file(path).is_ok()
            });
            self.add_lost(report, own.folder(), &present.into_iter().collect(), "`git restore FILE`")?;
            let finding = |(flow, path): (_, ProjectPath)| {
                let help = format!(
                    "a person decides: `stepmark flow accept {flow}` takes it, `stepmark flow restore {flow}` brings back what was"
                );
                record_edited_finding(&path).with_help(help)
            };
            self.add_all_beside(report, edited.into_iter().map(finding))?;
        }
        if let Some(own) = self.workspace.coordination().filter(|own| is_meant(&own.settings().folder)) {
            let (folder, paths) = (&own.settings().folder, own.record_paths());
            self.add_records_of((report, read), folder, paths, "`git restore FILE`")?;
        }
        Ok(())
    }

    pub(super) fn add_edited(
        &self,
        report: &mut CheckReport<'_>,
        name: &str,
        recorded: &BTreeSet<ProjectPath>,
        read: &[TrackedArtifact],
    ) -> Result<(), Error> {
        let edited = self.workspace.unrecorded(name, recorded, read)?;
        self.add_all_beside(report, edited.iter().map(record_edited_finding))
    }

    fn add_records_of(
        &self,
        (report, read): (&mut CheckReport<'_>, &[TrackedArtifact]),
        folder: &ProjectPath,
        paths: Option<BTreeSet<ProjectPath>>,
        command: &str,
    ) -> Result<(), Error> {
        let mut unusable = self.workspace.unusable_records();
        unusable.retain(|path, _| path.starts_with(folder));
        let broken = unusable.iter().filter_map(|(path, own)| Some((path, own.reason.clone()?)));
        self.add_all_beside(report, broken.map(|(path, reason)| record_unusable_finding(path, reason)))?;
        let Some(mut present) = paths else { return Ok(()) };
        present.retain(|path| !unusable.contains_key(path));
        self.add_edited(report, &folder.as_str().replace('/', "%"), &present, read)?;
        unusable.retain(|_, own| own.reason.is_some());
        present.extend(unusable.into_keys());
        self.add_lost(report, folder, &present, command)
    }

    fn add_lost(
        &self,
        report: &mut CheckReport<'_>,
        folder: &ProjectPath,
        present: &BTreeSet<ProjectPath>,
        command: &str,
    ) -> Result<(), Error> {
        let lost = self.workspace.lost_records(folder, present)?.into_iter();
        let finding = |(path, is_gone): (ProjectPath, _)| {
            record_lost_finding(&path, is_gone, &command.replace("FILE", path.as_str()))
        };
        self.add_all_beside(report, lost.map(finding))
    }
}
