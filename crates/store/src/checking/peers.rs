//! Findings in artifacts that packs claim: edits, contradictions between artifacts, silent holders.

use crate::{Error, ErrorKind, checking::read_baseline};
use std::collections::BTreeMap;

use crate::{
    bmad::tickets::{is_of_tree, tree_of},
    checking::{BASELINE_PATH, CheckReport, Checks},
    commit::{Expected, Outcome, replace_whole},
    git::GitVersion,
    repository::ChangedArtifact,
    workspace::claimed::{between, kind_of},
};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::tickets::TicketTree,
    check::{
        Baseline, Finding,
        rules::bmad::ticket_finding,
        rules::systems::{holder_silent_finding, peer_finding},
    },
    journal::ArtifactKey,
    packs::{Kind, PeerFault},
    tracked_artifact::TrackedArtifact,
};

impl Checks<'_> {
    pub(super) fn add_claimed(
        &self,
        report: &mut CheckReport<'_>,
        is_meant: impl Fn(&ProjectPath) -> bool,
    ) -> Result<(), Error> {
        let has_files = self.workspace.has_pack_files();
        let is_asked = |kind: &Kind| kind.is_recorded || kind.has_peers() || kind.has_holders();
        let claimed = self.workspace.claimed(|kind| has_files || is_asked(kind))?;
        let is_recorded = |own: &&TrackedArtifact| kind_of(own).is_some_and(|kind| kind.is_recorded);
        let recorded = claimed.iter().filter(is_recorded).map(|own| own.path().clone());
        self.add_edited(report, "packs", &recorded.filter(&is_meant).collect(), &claimed)?;
        for finding in self
            .workspace
            .pack_files(Some(&claimed))
            .map_err(|error| Error::told(ErrorKind::Io, error))?
            .findings()
        {
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

    fn silent_holders(&self, artifact: &TrackedArtifact) -> Result<Vec<Finding>, Error> {
        let is_open = artifact.lifecycle_state().is_some_and(|state| !state.is_terminal);
        let Some(kind) = kind_of(artifact).filter(|kind| is_open && kind.has_holders()) else {
            return Ok(Vec::new());
        };
        let (own, path) = (artifact.artifact(), artifact.path());
        let state = own.state_value().unwrap_or_default();
        // Mostly none has such a rule, and history is not needed.
        if kind.rules.iter().all(|rule| rule.silence(&state, f64::INFINITY).is_none()) {
            return Ok(Vec::new());
        }
        let heads = self.workspace.history().ask(|history| history.heads(&ArtifactKey::of(own), path))?;
        let Some(last) = heads.last() else { return Ok(Vec::new()) };
        let days = self.workspace.now().duration_since(last.at).as_secs_f64() / 86_400.0;
        let found = kind.rules.iter().filter_map(|rule| Some((&rule.key.0, rule.silence(&state, days)?)));
        Ok(found.map(|(key, reason)| holder_silent_finding(own, key, reason)).collect())
    }

    /// Earlier faults count as old.
    pub(crate) fn add_peers_in(
        &self,
        report: &mut CheckReport<'_>,
        (changed, version): (&[ChangedArtifact], &GitVersion),
        baseline: &mut Baseline,
    ) -> Result<(), Error> {
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
}

impl Checks<'_> {
    /// Adds faults in ticket trees that `version` changes; earlier ones count as old.
    pub(crate) fn add_tickets_in(
        &self,
        report: &mut CheckReport<'_>,
        version: &GitVersion,
        baseline: &mut Baseline,
    ) -> Result<(), Error> {
        for top in self.workspace.ticket_tops(version.changed()) {
            let findings = |files| {
                let tree = tree_of(&top, files);
                tree.iter().flat_map(TicketTree::faults).cloned().map(ticket_finding).collect::<Vec<_>>()
            };
            let is_wanted = |path: &ProjectPath| is_of_tree(&top, path);
            let mut found = findings(version.files_in((&top, is_wanted), false)?);
            if found.is_empty() {
                continue;
            }
            let old = findings(version.files_in((&top, is_wanted), true)?);
            report.left_out.old += Baseline::of(&old).subtract(&mut found);
            for (path, found) in by_path(found) {
                let bytes = version.read(&path)?.unwrap_or_default();
                let judged = self.workspace.policy_at(&path, |policy| policy.judge_beside(found));
                report.add_beside(path, bytes, judged, baseline);
            }
        }
        Ok(())
    }
}

fn by_path(findings: impl IntoIterator<Item = Finding>) -> BTreeMap<ProjectPath, Vec<Finding>> {
    let mut files: BTreeMap<ProjectPath, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        files.entry(finding.path.clone()).or_default().push(finding);
    }
    files
}

impl Checks<'_> {
    /// Applies the policy and the baseline; an unreadable file has no bytes.
    pub fn add_beside(
        &self,
        report: &mut CheckReport<'_>,
        path: ProjectPath,
        find: impl FnOnce(&[u8]) -> Vec<Finding>,
    ) -> Result<(), Error> {
        let bytes = self.workspace.read_file(&path).unwrap_or_default();
        let findings = find(&bytes);
        let baseline = self.workspace.baseline_bytes()?;
        let mut baseline = baseline.as_deref().map_or_else(|| Ok(Baseline::default()), read_baseline)?;
        let judged = self.workspace.policy_at(&path, |policy| policy.judge_beside(findings));
        report.add_beside(path, bytes, judged, &mut baseline);
        Ok(())
    }

    pub(super) fn add_all_beside(
        &self,
        report: &mut CheckReport<'_>,
        findings: impl IntoIterator<Item = Finding>,
    ) -> Result<(), Error> {
        by_path(findings).into_iter().try_for_each(|(path, found)| self.add_beside(report, path, |_| found))
    }

    /// Returns the number of findings; does nothing if the baseline exists.
    pub fn write_baseline(&self, report: &CheckReport<'_>) -> Result<usize, Error> {
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
