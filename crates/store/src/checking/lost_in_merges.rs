//! Findings that only history tells: work that a merge lost, records that are gone or were edited.

use crate::checking::{CheckError, CheckReport, Checks};
use crate::history::History;
#[cfg(feature = "write")]
use crate::workspace::claimed::{between, kind_of};
#[cfg(feature = "write")]
use crate::{git::GitVersion, repository::ChangedArtifact};
#[cfg(feature = "write")]
use std::collections::{BTreeMap, BTreeSet};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    check::{Finding, rules::history::lost_in_merge},
    journal::ArtifactKey,
};
#[cfg(feature = "write")]
use stepmark_model::{
    check::Baseline,
    check::rules::systems::{
        holder_silent_finding, peer_finding, record_edited_finding, record_lost_finding,
        record_unusable_finding,
    },
    packs::{Kind, PeerFault},
    records::RecordSet,
    tracked_artifact::TrackedArtifact,
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
        self.add_claimed(report, &is_meant)?;
        if let Some(own) = self.workspace.flows().filter(|own| is_meant(own.folder())) {
            let edited = own.edited_records()?;
            let mut present = self.workspace.history().ask(|history| history.known_below(own.folder()))?;
            present.retain(|path| {
                edited.iter().any(|(_, own)| own == path) || self.workspace.read_file(path).is_ok()
            });
            self.add_lost(report, own.folder(), &present.into_iter().collect(), "`git restore FILE`")?;
            for (flow, path) in edited {
                let help = format!(
                    "a person decides: `stepmark flow accept {flow}` takes it, `stepmark flow restore {flow}` brings back what was"
                );
                let finding = record_edited_finding(&path).with_help(help);
                self.add_beside(report, path, |_| vec![finding])?;
            }
        }
        if let Some(own) = self.workspace.coordination().filter(|own| is_meant(&own.settings().folder)) {
            let records = own.state().map(|state| paths(&state, |kind, id| own.path_of(kind, id).ok()));
            let records = records.map_err(|error| error.unusable());
            self.add_records_of((report, read), &own.settings().folder, records, "`git restore FILE`")?;
        }
        Ok(())
    }

    /// Adds what is wrong with artifacts that packs of the project claim: those that were edited where only
    /// recorded changes count, and those that do not go with others.
    fn add_claimed(
        &self,
        report: &mut CheckReport<'_>,
        is_meant: impl Fn(&ProjectPath) -> bool,
    ) -> Result<(), CheckError> {
        let has_files = self.workspace.has_pack_files();
        let is_asked = |kind: &Kind| kind.is_recorded || kind.has_peers() || kind.has_holders();
        let claimed = self.workspace.claimed(|kind| has_files || is_asked(kind))?;
        let is_recorded = |own: &&TrackedArtifact| kind_of(own).is_some_and(|kind| kind.is_recorded);
        let recorded = claimed.iter().filter(is_recorded).map(|own| own.path().clone());
        self.add_edited(report, "packs", &recorded.filter(&is_meant).collect(), &claimed)?;
        for finding in self.workspace.pack_files(Some(&claimed))?.findings() {
            if is_meant(&finding.path) {
                self.add_beside(report, finding.path.clone(), |_| vec![finding])?;
            }
        }
        let mut faults: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
        for (place, fault) in between(&claimed) {
            faults.entry(place).or_default().push(peer_finding(claimed[place].artifact(), &fault));
        }
        for (place, own) in claimed.iter().enumerate() {
            for finding in self.silent_holders(own)? {
                faults.entry(place).or_default().push(finding);
            }
        }
        for (place, findings) in faults {
            let path = claimed[place].path();
            if is_meant(path) {
                self.add_beside(report, path.clone(), |_| findings)?;
            }
        }
        Ok(())
    }

    fn silent_holders(&self, artifact: &TrackedArtifact) -> Result<Vec<Finding>, CheckError> {
        let is_open = artifact.lifecycle_state().is_some_and(|state| !state.is_terminal);
        let Some(kind) = kind_of(artifact).filter(|kind| is_open && kind.has_holders()) else {
            return Ok(Vec::new());
        };
        let (own, path) = (artifact.artifact(), artifact.path());
        let state = own.state_value().unwrap_or_default();
        // Mostly nobody has it, and history need not be asked.
        if kind.rules.iter().all(|rule| rule.silence(&state, f64::INFINITY).is_none()) {
            return Ok(Vec::new());
        }
        let heads = self.workspace.history().ask(|history| history.heads(&ArtifactKey::of(own), path))?;
        let Some(last) = heads.last() else { return Ok(Vec::new()) };
        let days = self.workspace.now().duration_since(last.at).as_secs_f64() / 86_400.0;
        let found = kind.rules.iter().filter_map(|rule| Some((&rule.key.0, rule.silence(&state, days)?)));
        Ok(found.map(|(key, reason)| holder_silent_finding(own, key, reason)).collect())
    }

    /// Adds what does not go with others of its pack since `changed`; what did not before is old.
    pub(crate) fn add_peers_in(
        &self,
        report: &mut CheckReport<'_>,
        (changed, version): (&[ChangedArtifact], &GitVersion),
        baseline: &mut Baseline,
    ) -> Result<(), CheckError> {
        let sides = || changed.iter().flat_map(|own| own.sides().chain([own.latest()]));
        if !sides().any(|own| kind_of(own).is_some_and(Kind::has_peers)) {
            return Ok(());
        }
        let mut others = Vec::new();
        for path in version.files_with(&["---"])? {
            let is_known = !self.workspace.may_be_claimed(&path) || sides().any(|own| *own.path() == path);
            if !is_known
                && self.workspace.configuration().is_artifact(&path)
                && let Some(bytes) = version.read(&path)?
            {
                others.push(self.workspace.track(Artifact::read(path, bytes))?);
            }
        }
        let with = |side: fn(&ChangedArtifact) -> Option<&TrackedArtifact>| -> Vec<TrackedArtifact> {
            others.iter().chain(changed.iter().filter_map(side)).cloned().collect()
        };
        let before = with(|own| match own {
            ChangedArtifact::Present { before, .. } => before.as_deref(),
            ChangedArtifact::Merged { before, .. } => Some(before),
            own => Some(own.latest()),
        });
        let now = with(|own| (!matches!(own, ChangedArtifact::Deleted { .. })).then(|| own.latest()));
        let old = between(&before);
        for (place, fault) in between(&now) {
            let artifact = now[place].artifact();
            let is_same = |(at, own): &(usize, PeerFault)| {
                before[*at].path() == artifact.path()
                    && (&own.key, &own.problem) == (&fault.key, &fault.problem)
            };
            if !old.iter().any(is_same) {
                let findings = vec![peer_finding(artifact, &fault)];
                let judged =
                    self.workspace.policy_at(artifact.path(), |policy| policy.judge_beside(findings));
                report.add_beside(artifact.path().clone(), artifact.bytes().to_vec(), judged, baseline);
            }
        }
        Ok(())
    }

    fn add_edited(
        &self,
        report: &mut CheckReport<'_>,
        name: &str,
        recorded: &BTreeSet<ProjectPath>,
        read: &[TrackedArtifact],
    ) -> Result<(), CheckError> {
        for path in self.workspace.unrecorded(name, recorded, read)? {
            let finding = record_edited_finding(&path);
            self.add_beside(report, path, |_| vec![finding])?;
        }
        Ok(())
    }

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
        self.add_edited(report, &folder.as_str().replace('/', "%"), &present, read)?;
        self.add_lost(report, folder, &present, command)
    }

    fn add_lost(
        &self,
        report: &mut CheckReport<'_>,
        folder: &ProjectPath,
        present: &BTreeSet<ProjectPath>,
        command: &str,
    ) -> Result<(), CheckError> {
        for (path, is_gone) in self.workspace.lost_records(folder, present)? {
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
