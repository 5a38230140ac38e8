//! Checks the changes between two states of a repository; the rules' facts come from git.

use crate::{Error, checking::read_baseline};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use crate::{
    bmad::sprint::Ledgers,
    checking::{
        BASELINE_PATH, CheckReport, Checks,
        check_report::AllowancesInUse,
        journal_account::{HeldHistory, JournalAccount},
        manifest_rows::{self, ManifestRows},
    },
    git::GitVersion,
    manifest::DEFAULT_MANIFEST,
    repository::{ChangedArtifact, Repository},
    workspace::{Workspace, chain::FOLDER_SUFFIX},
};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    asdd::AsddFacts,
    autodev::AutodevFacts,
    check::{
        self, BaseVersion, Baseline, Finding, Group, Judged, Loss, ManifestRow, RuleEnvironment, Subject,
        rules::{
            history::history_missing_finding, references::INPUT_DOCUMENT_MISSING,
            status::SPRINT_STATUS_DISAGREES,
        },
    },
    coordination::CoordinationFacts,
    delegation::{Chains, Member},
    flows::FlowFacts,
    journal::LossExplanation,
    tracked_artifact::TrackedArtifact,
};

struct InVersion<'v> {
    version: &'v GitVersion,
    changed: &'v [ChangedArtifact],
    workspace: &'v Workspace,
    ledgers: Ledgers,
    manifest: ManifestRows,
    asdd: OnceLock<Option<Arc<AsddFacts>>>,
    coordination: OnceLock<Option<Arc<CoordinationFacts>>>,
    flows: OnceLock<Option<Arc<FlowFacts>>>,
}

impl RuleEnvironment for InVersion<'_> {
    fn exists(&self, path: &ProjectPath) -> bool {
        // If git fails here, it has already failed for the artifacts, which is an error.
        self.version.holds(path).unwrap_or(true)
    }

    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String> {
        self.ledgers.status(ledger, story, || self.version.read(ledger).ok().flatten())
    }

    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow {
        let read = || {
            let manifest = ProjectPath::new(DEFAULT_MANIFEST).ok()?;
            let bytes = self.version.read(&manifest).ok()??;
            let paths: Vec<&ProjectPath> =
                self.changed.iter().map(|changed| changed.latest().path()).collect();
            Some(manifest_rows::rows_of(&bytes, &paths))
        };
        self.manifest.row(path, self.workspace.configuration(), read)
    }

    fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        let autodev = self.workspace.autodev()?;
        // A commit is checked against the work tree, which includes files that git ignores.
        if self.version.is_index() { autodev.facts(artifact) } else { autodev.facts_without_files(artifact) }
    }

    fn asdd(&self) -> Option<Arc<AsddFacts>> {
        // Older versions are not checked against today's files.
        let read = || Some(Arc::new(self.workspace.asdd()?.facts()?));
        if self.version.is_index() { self.asdd.get_or_init(read).clone() } else { None }
    }

    fn coordination(&self) -> Option<Arc<CoordinationFacts>> {
        // Older versions are not checked against today's records.
        let read = || Some(Arc::new(self.workspace.coordination()?.facts()?));
        if self.version.is_index() { self.coordination.get_or_init(read).clone() } else { None }
    }

    fn flows(&self) -> Option<Arc<FlowFacts>> {
        let read = || self.workspace.flow_facts().map(Arc::new);
        if self.version.is_index() { self.flows.get_or_init(read).clone() } else { None }
    }
}

/// Rules about what a merge may not lose, whichever side it takes.
const LOSSES: [&str; 3] = ["SM901", "SM902", "SM904"];

impl Workspace {
    /// Adds findings in unchanged artifacts: stories of a changed or removed sprint status, parents and
    /// children in chains. Uses only rules that look at what changed.
    fn add_bystanders(
        &self,
        report: &mut CheckReport<'_>,
        changed: &[ChangedArtifact],
        around: Option<&ChainsAround>,
        surroundings: &dyn RuleEnvironment,
        baseline: &mut Baseline,
    ) {
        let left: Vec<&ProjectPath> = changed.iter().filter_map(ChangedArtifact::left).collect();
        for changed in changed {
            let ChangedArtifact::Unchanged { now } = changed else { continue };
            let subject = Subject::of(now).within(surroundings);
            let names_one_left = |finding: &Finding| {
                let mut named = now.artifact().state().input_documents.iter();
                named.any(|document| {
                    let candidates = document.candidates(now.path());
                    document.span == finding.span && candidates.iter().any(|path| left.contains(&path))
                })
            };
            let is_asked = |finding: &Finding| {
                *finding.rule == SPRINT_STATUS_DISAGREES
                    || *finding.rule == INPUT_DOCUMENT_MISSING && names_one_left(finding)
            };
            self.add_unchanged(report, now, &subject, is_asked, baseline);
        }
        let Some(ChainsAround { chains, neighbours }) = around else { return };
        for neighbour in neighbours {
            let subject = Subject::of(neighbour).with_chains(Some(chains));
            let is_asked = |finding: &Finding| finding.rule.group == Group::Delegation;
            self.add_unchanged(report, neighbour, &subject, is_asked, baseline);
        }
    }

    fn check_change(
        &self,
        now: &TrackedArtifact,
        before: Option<&TrackedArtifact>,
        chains: Option<&Chains>,
        surroundings: &InVersion<'_>,
        held: &HeldHistory<'_>,
    ) -> Result<Judged, Error> {
        let subject = Subject::of(now).within(surroundings).with_chains(chains);
        let Some(before) = before else {
            return Ok(self.by_policy(&subject, check::findings(&subject)));
        };
        let account = JournalAccount::new(self, before.artifact(), Some(now.artifact()), held);
        let base = BaseVersion { tracked: before, accepted: Some(&account) };
        let subject = subject.since(base);
        let judged = self.by_policy(&subject, check::findings(&subject));
        account.failure()?;
        Ok(judged)
    }

    fn check_merged(
        &self,
        now: &TrackedArtifact,
        before: &TrackedArtifact,
        surroundings: &InVersion<'_>,
        held: &HeldHistory<'_>,
    ) -> Result<Judged, Error> {
        let mut judged = self.check_change(now, Some(before), None, surroundings, held)?;
        judged.findings.retain(|finding| LOSSES.contains(&finding.rule.id));
        Ok(judged)
    }

    fn add_unchanged(
        &self,
        report: &mut CheckReport<'_>,
        artifact: &TrackedArtifact,
        subject: &Subject<'_>,
        is_asked: impl Fn(&Finding) -> bool,
        baseline: &mut Baseline,
    ) {
        let mut findings = check::findings(subject);
        findings.retain(is_asked);
        let mut judged = self.by_policy(subject, findings);
        // Only these rules ran, so unused suppressions are unknown.
        judged.findings.retain(|finding| finding.rule.group != Group::Suppressions);
        report.add_beside(artifact.path().clone(), artifact.artifact().bytes().to_vec(), judged, baseline);
    }

    /// A removal is valid if every clone can see it; one that only this clone knows lacks its history.
    fn check_deletion(&self, before: &TrackedArtifact, held: &HeldHistory<'_>) -> Result<Judged, Error> {
        let subject = Subject::of(before);
        let mut findings = check::deletion_findings(&subject);
        if !findings.is_empty() {
            let account = JournalAccount::new(self, before.artifact(), None, held);
            match account.explanation(&Loss::Artifact) {
                LossExplanation::Held => findings.clear(),
                LossExplanation::NotHeld => findings = vec![history_missing_finding(&subject)],
                LossExplanation::Unexplained => {}
            }
            account.failure()?;
        }
        let mut judged = self.by_policy(&subject, findings);
        // Suppressions of a removed file do not matter.
        judged.findings.retain(|finding| finding.rule.group != Group::Suppressions);
        Ok(judged)
    }
}

impl Checks<'_> {
    /// Findings and fates of `changed`, in order, then of their parents and children in chains, and of
    /// stories of a changed sprint status. Gates are left out: they belong to the work tree. Uses the newer
    /// state's baseline.
    pub fn check_changes<'t>(
        &self,
        changed: &'t [ChangedArtifact],
        version: &GitVersion,
    ) -> Result<CheckReport<'t>, Error> {
        let surroundings = InVersion {
            version,
            changed,
            workspace: self.workspace,
            ledgers: Ledgers::default(),
            manifest: ManifestRows::default(),
            asdd: OnceLock::new(),
            coordination: OnceLock::new(),
            flows: OnceLock::new(),
        };
        let mut baseline = match ProjectPath::new(BASELINE_PATH).ok().map(|path| version.read(&path)) {
            Some(bytes) => bytes?.map_or(Ok(Baseline::default()), |bytes| read_baseline(&bytes))?,
            None => Baseline::default(),
        };
        let around = self.workspace.repository().chains_around(changed, version)?;
        let chains = around.as_ref().map(|around| &around.chains);
        let held = HeldHistory::new(self.workspace, version);
        let mut report = CheckReport::default();
        for changed in changed {
            let judged = match changed {
                ChangedArtifact::Present { now, before } => {
                    let before = before.as_deref();
                    let mut judged =
                        self.workspace.check_change(now, before, chains, &surroundings, &held)?;
                    // Earlier faults are not due to the change.
                    let own = before.map(|before| check::findings(&Subject::of(before))).unwrap_or_default();
                    let old = self.workspace.policy_at(now.path(), |policy| policy.judge_beside(own));
                    report.left_out.old += Baseline::of(&old.findings).subtract(&mut judged.findings);
                    judged
                }
                ChangedArtifact::Deleted { before } => self.workspace.check_deletion(before, &held)?,
                ChangedArtifact::Merged { now, before } => {
                    let judged = self.workspace.check_merged(now, before, &surroundings, &held)?;
                    let bytes = now.artifact().bytes().to_vec();
                    report.add_beside(now.artifact().path().clone(), bytes, judged, &mut baseline);
                    continue;
                }
                ChangedArtifact::Unchanged { .. } => continue,
            };
            report.add(changed.latest().artifact(), judged, &mut baseline);
        }
        self.workspace.add_bystanders(&mut report, changed, around.as_ref(), &surroundings, &mut baseline);
        let in_use = &mut AllowancesInUse::default();
        #[cfg(feature = "write")]
        {
            let files = self.workspace.files_of_records(changed, version)?;
            self.workspace.add_files_of_records(&mut report, files, in_use, &mut baseline);
            self.add_peers_in(&mut report, (changed, version), &mut baseline)?;
            self.add_tickets_in(&mut report, version, &mut baseline)?;
        }
        self.workspace.add_ledgers(
            &mut report,
            surroundings.ledgers.into_unusable().0,
            in_use,
            &mut baseline,
        );
        #[cfg(feature = "write")]
        if version.is_index() && version.is_merging()? {
            self.add_lost_in_merges(&mut report)?;
        }
        Ok(report)
    }
}

const DELEGATION: &str = "delegation:";

/// The most rounds of asking git for parents: files decide on a chain's depth.
const MOST_ROUNDS: usize = 64;

pub(crate) struct ChainsAround {
    pub(crate) chains: Chains,
    pub(crate) neighbours: Vec<TrackedArtifact>,
}

impl Repository<'_> {
    /// `None` if `changed` take part in no chain. An artifact with an id but no delegation takes part if it
    /// has a folder of delegated artifacts, or if its id is new in `version`: another may have it.
    pub(crate) fn chains_around(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<ChainsAround>, Error> {
        let mut moving = Moving::default();
        for side in changed.iter().flat_map(ChangedArtifact::sides) {
            let member = Member::of(side.artifact(), None);
            let has_children =
                || delegations_folder(side.path()).map_or(Ok(false), |folder| version.holds(&folder));
            if member.delegation.is_some() || member.id().is_some() && has_children()? {
                moving.ids.extend(member.id().map(str::to_owned));
                moving.parents.extend(member.parent_id().map(str::to_owned));
                moving.is_any = true;
            }
        }
        for artifact in changed {
            let ChangedArtifact::Present { now, before, .. } = artifact else { continue };
            let id = |side: &TrackedArtifact| Member::of(side.artifact(), None).id().map(str::to_owned);
            moving.new_ids.extend(id(now).filter(|new| before.as_deref().and_then(id).as_ref() != Some(new)));
        }
        if !moving.is_any && moving.new_ids.is_empty() {
            return Ok(None);
        }
        let present: Vec<&TrackedArtifact> = changed.iter().filter_map(ChangedArtifact::now).collect();
        let mut others = self.members_of_chains(&present, &moving, version)?;
        // An id shared by two unchanged artifacts is not due to the change.
        let members: Vec<Member> = others.values().map(TrackedArtifact::member).collect();
        let is_old = |id: &str| members.iter().filter(|other| other.id() == Some(id)).count() > 1;
        let is_taken = |id: &str| moving.new_ids.contains(id) && is_old(id);
        others.retain(|_, other| !other.member().id().is_some_and(is_taken));
        let chains = Chains::of(present.into_iter().chain(others.values()).map(TrackedArtifact::member));
        let neighbours = others.into_values().filter(|artifact| moving.touches(&artifact.member())).collect();
        Ok(Some(ChainsAround { chains, neighbours }))
    }

    fn members_of_chains(
        &self,
        present: &[&TrackedArtifact],
        moving: &Moving,
        version: &GitVersion,
    ) -> Result<BTreeMap<ProjectPath, TrackedArtifact>, Error> {
        let mut found: BTreeMap<ProjectPath, TrackedArtifact> = BTreeMap::new();
        let mut asked: BTreeSet<String> = BTreeSet::new();
        let mut words: BTreeSet<String> = moving.ids.union(&moving.parents).cloned().collect();
        words.extend(moving.is_any.then(|| DELEGATION.to_owned()));
        // As keys: a short id is part of many words.
        let spellings = |id: &String| ["", "'", "\""].map(|quote| format!("id: {quote}{id}{quote}"));
        words.extend(moving.new_ids.iter().flat_map(spellings));
        for _ in 0..MOST_ROUNDS {
            let new: Vec<&str> = words.difference(&asked).map(String::as_str).collect();
            // Git would read a line end as a second pattern.
            let new: Vec<&str> = new.into_iter().filter(|word| !word.contains(['\n', '\r'])).collect();
            if new.is_empty() {
                break;
            }
            for path in version.files_with(&new)? {
                let is_known = found.contains_key(&path) || present.iter().any(|now| *now.path() == path);
                if is_known || !self.workspace.configuration().is_artifact(&path) {
                    continue;
                }
                let Some(bytes) = version.read(&path)? else { continue };
                let artifact = Artifact::read(path.clone(), bytes);
                if artifact.is_tracked() {
                    found.insert(path, self.workspace.track(artifact)?);
                }
            }
            asked.append(&mut words);
            let parents =
                found.values().filter_map(|artifact| artifact.member().parent_id().map(str::to_owned));
            words = parents.collect();
        }
        Ok(found)
    }
}

/// `docs/prd.delegations` for `docs/prd.md`: the parent's delegation folder.
fn delegations_folder(parent: &ProjectPath) -> Option<ProjectPath> {
    let name = format!("{}{FOLDER_SUFFIX}", parent.file_stem());
    parent.parent().map_or_else(|| ProjectPath::new(&name), |above| above.join(&name)).ok()
}

#[derive(Debug, Default)]
struct Moving {
    ids: BTreeSet<String>,
    parents: BTreeSet<String>,
    is_any: bool,
    /// Ids that their artifacts did not have before.
    new_ids: BTreeSet<String>,
}

impl Moving {
    fn touches(&self, member: &Member) -> bool {
        let ids = [&self.parents, &self.ids, &self.new_ids];
        member.id().is_some_and(|id| ids.iter().any(|known| known.contains(id)))
            || member.parent_id().is_some_and(|parent| self.ids.contains(parent))
    }
}
