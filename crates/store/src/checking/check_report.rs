//! The report of a check of several artifacts.

use crate::{Error, checking::read_baseline};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashSet},
    ptr,
};

#[cfg(feature = "write")]
use crate::projection::file_findings::FileFindings;
use crate::{
    bmad::sprint::{BrokenSprintStatus, Ledgers},
    checking::{
        Selection,
        cache::{Answers, Asked, Noted},
        kept_chains::ChainPart,
    },
    configuration::PathAllowance,
    disk::{CONFIGURATION_PATH, in_parts::par_map},
    manifest::CacheOutcome,
    workspace::Workspace,
};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    check::{
        self, Baseline, Finding, Judged, ProblemCounts, Rule, Subject,
        rules::{references::successor_missing_finding, suppression::allowance_unused_finding},
    },
    delegation::Chains,
    tracked_artifact::TrackedArtifact,
    workflow::{ChainDiagnosis, WorkflowDefinition},
};

#[derive(Clone, Debug, Default)]
pub struct CheckReport<'t> {
    /// One for each artifact, in path order; then faulty files beside them.
    pub files: Vec<CheckedFile<'t>>,
    /// The number of files in `files` that are not artifacts.
    pub beside: usize,
    pub left_out: LeftOut,
    pub cache: CacheOutcome,
}

#[derive(Clone, Debug)]
pub struct CheckedFile<'t> {
    pub path: ProjectPath,
    /// The text that the findings' spans refer to; empty if it was not read again.
    pub bytes: Cow<'t, [u8]>,
    /// In file order.
    pub findings: Vec<Finding>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub suppressed: usize,
    pub known: usize,
    /// In the baseline, but no longer found; counted only if all artifacts were checked.
    pub gone: usize,
    /// Older than the checked change.
    pub old: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    LeftOut,
    /// Reported like others: a new baseline needs them all.
    Reported,
}

impl CheckReport<'_> {
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.files.iter().flat_map(|file| &file.findings)
    }
}

impl<'t> CheckReport<'t> {
    /// Leaves out findings in `baseline`; returns how many are reported.
    pub(crate) fn add(
        &mut self,
        artifact: &'t Artifact,
        mut judged: Judged,
        baseline: &mut Baseline,
    ) -> ProblemCounts {
        self.left_out.suppressed += judged.suppressed;
        self.left_out.known += baseline.subtract(&mut judged.findings);
        let problems = ProblemCounts::of(&judged.findings);
        self.files.push(CheckedFile {
            path: artifact.path().clone(),
            bytes: Cow::Borrowed(artifact.bytes()),
            findings: judged.findings,
        });
        problems
    }

    /// Call it before adding files beside artifacts.
    pub(crate) fn add_clean(&mut self, paths: impl Iterator<Item = ProjectPath>) {
        let clean = |path| CheckedFile { path, bytes: Cow::Borrowed(&[][..]), findings: Vec::new() };
        self.files.extend(paths.map(clean));
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
    }

    pub(crate) fn add_beside(
        &mut self,
        path: ProjectPath,
        bytes: Vec<u8>,
        mut judged: Judged,
        baseline: &mut Baseline,
    ) {
        self.left_out.suppressed += judged.suppressed;
        self.left_out.known += baseline.subtract(&mut judged.findings);
        if !judged.findings.is_empty() {
            self.beside += 1;
            self.files.push(CheckedFile { path, bytes: Cow::Owned(bytes), findings: judged.findings });
        }
    }
}

/// A missing baseline has a digest, too.
pub(crate) fn digest_of_baseline(bytes: Option<&[u8]>) -> String {
    FileHash::of(bytes.unwrap_or_default()).to_string()
}

#[derive(Debug)]
pub(crate) struct CheckingRun<'w, 't> {
    workspace: &'w Workspace,
    has_gates: bool,
    baseline: Baseline,
    baseline_digest: String,
    in_use: AllowancesInUse,
    pub(crate) report: CheckReport<'t>,
}

impl<'w, 't> CheckingRun<'w, 't> {
    pub(crate) fn begin(workspace: &'w Workspace, known: Known) -> Result<Self, Error> {
        let bytes = match known {
            Known::LeftOut => workspace.baseline_bytes()?,
            Known::Reported => None,
        };
        let baseline = bytes.as_deref().map_or_else(|| Ok(Baseline::default()), read_baseline)?;
        Ok(Self {
            workspace,
            has_gates: workspace.gates().are_on(),
            baseline,
            baseline_digest: digest_of_baseline(bytes.as_deref()),
            in_use: AllowancesInUse::default(),
            report: CheckReport::default(),
        })
    }

    /// Judges `artifacts` on all processors. `each` gets their counts and notes in order, but not of clean
    /// artifacts, or of those that may change without a trace.
    pub(crate) fn judge(
        &mut self,
        artifacts: &'t [TrackedArtifact],
        chains: Option<&Chains>,
        answers: &Answers<'_>,
        note: impl Fn(&TrackedArtifact) -> Option<Vec<u8>> + Sync,
        mut each: impl FnMut(&'t TrackedArtifact, ProblemCounts, Noted, Vec<u8>),
    ) -> Result<(), Error> {
        let run = &*self;
        let judged = par_map(artifacts, |artifact| {
            let (judged, noted) = run.judge_one(artifact, chains, answers)?;
            let noted = noted.and_then(|noted| {
                Some((run.with_own_facts(noted, artifact, chains, &judged), note(artifact)?))
            });
            Ok((judged, noted))
        });
        let judged: Vec<_> = judged.into_iter().collect::<Result<_, Error>>()?;
        for (artifact, (judged, noted)) in artifacts.iter().zip(judged) {
            self.in_use.note(&judged);
            let problems = self.report.add(artifact.artifact(), judged, &mut self.baseline);
            if let Some((noted, note)) = noted {
                each(artifact, problems, noted, note);
            }
        }
        Ok(())
    }

    fn with_own_facts(
        &self,
        mut noted: Noted,
        artifact: &TrackedArtifact,
        chains: Option<&Chains>,
        judged: &Judged,
    ) -> Noted {
        let rules = judged.used.iter().chain(&judged.undecided);
        // Suppressed findings are counted in every run.
        let is_clean = judged.findings.is_empty() && judged.suppressed == 0;
        let workflows = self.workspace.workflows();
        noted.facts.part = chains.map_or_else(ChainPart::default, |chains| ChainPart::of(artifact, chains));
        noted.facts.workflow = artifact.workflow().and_then(|workflow| workflows.key_of(workflow));
        noted.facts.allowances = rules.map(|(at, rule)| (*at, rule.id.to_owned())).collect();
        noted.facts.baseline = (!is_clean).then(|| self.baseline_digest.clone());
        noted
    }

    fn judge_one(
        &self,
        artifact: &TrackedArtifact,
        chains: Option<&Chains>,
        answers: &Answers<'_>,
    ) -> Result<(Judged, Option<Noted>), Error> {
        let asked = Asked::new(artifact.path(), answers);
        let subject = Subject::of(artifact).within(&asked).with_chains(chains);
        let mut findings = check::findings(&subject);
        // An unreadable frontmatter lists no step.
        if self.has_gates && artifact.artifact().is_readable() {
            asked.note_gates();
            findings.extend(self.workspace.gates().findings(artifact)?);
        }
        let judged = self.workspace.by_policy(&subject, findings);
        Ok((judged, asked.into_noted()))
    }

    pub(crate) fn note_allowances<'p>(&mut self, rules: impl IntoIterator<Item = &'p AllowedRule>) {
        self.in_use.note_rules(rules);
    }

    #[cfg(feature = "write")]
    pub(crate) fn scan_files_of_records(&mut self, answers: &Answers<'_>) {
        let Self { workspace, baseline, in_use, report, .. } = self;
        let read = |path: &ProjectPath| workspace.read_file(path).ok();
        let mut files = Vec::new();
        if let (Some(own), Some(facts)) = (workspace.coordination(), answers.coordination()) {
            files.extend(own.file_findings(&facts.state, read));
        }
        if let (Some(own), Some(facts)) = (workspace.asdd(), answers.asdd()) {
            files.extend(own.file_findings(&facts.state, read));
        }
        workspace.add_files_of_records(report, files, in_use, baseline);
    }

    pub(crate) fn scan_other_files<'d>(
        &mut self,
        workflows: impl Iterator<Item = &'d WorkflowDefinition>,
        ledgers: Ledgers,
        stories: Option<&[ProjectPath]>,
    ) {
        let Self { workspace, baseline, in_use, report, .. } = self;
        workspace.add_step_files(report, workflows, in_use, baseline);
        let mut found = ledgers.into_unusable().0;
        let told: HashSet<ProjectPath> = found.iter().map(|broken| broken.finding.path.clone()).collect();
        let others = stories.map(|stories| workspace.ledgers().unmatched(stories)).into_iter().flatten();
        found.extend(others.filter(|own| !told.contains(&own.finding.path)));
        workspace.add_ledgers(report, found, in_use, baseline);
    }

    #[cfg(feature = "write")]
    fn name_writers(&mut self) {
        use stepmark_model::check::rules::status::SPRINT_STATUS_DISAGREES;
        let disagrees = |finding: &&mut Finding| *finding.rule == SPRINT_STATUS_DISAGREES;
        let stories = self.report.findings().filter(|own| *own.rule == SPRINT_STATUS_DISAGREES);
        let stories: Vec<ProjectPath> = stories.map(|finding| finding.path.clone()).collect();
        let writers = self.workspace.ledgers().writers(&stories);
        for finding in self.report.files.iter_mut().flat_map(|file| &mut file.findings).filter(disagrees) {
            if let (Some(writer), Some(help)) = (writers.get(&finding.path), &mut finding.help) {
                help.push_str(&format!("; as for the entry of the ledger: {writer}"));
            }
        }
    }

    pub(crate) fn finish(mut self, selection: Selection) -> CheckReport<'t> {
        if selection == Selection::All {
            #[cfg(feature = "write")]
            self.name_writers();
            self.workspace.add_unused_allowances(&mut self.report, &self.in_use, &mut self.baseline);
            self.report.left_out.gone = self.baseline.len();
        }
        self.report
    }
}

/// The index of the entry in `check.allow`, and the rule's id.
pub(crate) type AllowedRule = (usize, String);

#[derive(Debug, Default)]
pub(crate) struct AllowancesInUse(BTreeSet<AllowedRule>);

impl AllowancesInUse {
    pub(crate) fn note(&mut self, judged: &Judged) {
        let rules = judged.used.iter().chain(&judged.undecided);
        self.0.extend(rules.map(|(at, rule)| (*at, rule.id.to_owned())));
    }

    pub(crate) fn note_rules<'p>(&mut self, rules: impl IntoIterator<Item = &'p AllowedRule>) {
        self.0.extend(rules.into_iter().cloned());
    }
}

impl Workspace {
    pub(crate) fn add_step_files<'d>(
        &self,
        report: &mut CheckReport<'_>,
        workflows: impl Iterator<Item = &'d WorkflowDefinition>,
        in_use: &mut AllowancesInUse,
        baseline: &mut Baseline,
    ) {
        let mut files: BTreeMap<&ProjectPath, BTreeSet<(&str, &str)>> = BTreeMap::new();
        // Most artifacts share their workflow with others.
        let mut seen = HashSet::new();
        for chain in
            workflows.map(|workflow| &workflow.chain).filter(|chain| seen.insert(ptr::from_ref(*chain)))
        {
            for diagnosis in chain.diagnoses() {
                let ChainDiagnosis::SuccessorMissing { step, key, value } = diagnosis else { continue };
                let named = chain.steps().iter().find(|own| own.name() == step);
                if let Some(path) = named.and_then(|step| step.path.as_ref()) {
                    files.entry(path).or_default().insert((key, value));
                }
            }
        }
        for (path, keys) in files {
            // It was read with its workflow; if it is gone since, it names no successor.
            let Ok(bytes) = self.read_file(path) else { continue };
            let findings = keys
                .into_iter()
                .filter_map(|(key, value)| successor_missing_finding(path, &bytes, key, value));
            let findings = findings.collect();
            let judged = self.policy_at(path, |policy| policy.judge_beside(findings));
            in_use.note(&judged);
            report.add_beside(path.clone(), bytes, judged, baseline);
        }
    }

    pub(crate) fn add_ledgers(
        &self,
        report: &mut CheckReport<'_>,
        ledgers: Vec<BrokenSprintStatus>,
        in_use: &mut AllowancesInUse,
        baseline: &mut Baseline,
    ) {
        for BrokenSprintStatus { bytes, finding } in ledgers {
            let path = finding.path.clone();
            let judged = self.policy_at(&path, |policy| policy.judge_beside(vec![finding]));
            in_use.note(&judged);
            report.add_beside(path, bytes, judged, baseline);
        }
    }

    #[cfg(feature = "write")]
    pub(crate) fn add_files_of_records(
        &self,
        report: &mut CheckReport<'_>,
        files: Vec<FileFindings>,
        in_use: &mut AllowancesInUse,
        baseline: &mut Baseline,
    ) {
        for file in files {
            let judged = self.policy_at(&file.path, |policy| policy.judge_beside(file.findings));
            in_use.note(&judged);
            report.add_beside(file.path, file.bytes, judged, baseline);
        }
    }

    /// Adds the entries of `check.allow` that accepted nothing.
    pub(crate) fn add_unused_allowances(
        &self,
        report: &mut CheckReport<'_>,
        in_use: &AllowancesInUse,
        baseline: &mut Baseline,
    ) {
        let configuration = self.configuration();
        let (Some(bytes), Ok(path)) =
            (configuration.source_of_allowances(), ProjectPath::new(CONFIGURATION_PATH))
        else {
            return;
        };
        let finding = |(at, entry): (usize, &PathAllowance)| {
            let is_idle = |rule: &&'static Rule| !in_use.0.contains(&(at, rule.id.to_owned()));
            let idle: Vec<_> = entry.allowance.judged_rules().filter(is_idle).collect();
            let all = entry.allowance.rules.len();
            entry
                .span
                .filter(|_| !idle.is_empty())
                .map(|span| allowance_unused_finding(&path, span, &idle, all))
        };
        let findings: Vec<Finding> =
            configuration.check.allow.iter().enumerate().filter_map(finding).collect();
        let judged = self.policy_at(&path, |policy| policy.judge_beside(findings));
        report.add_beside(path, bytes.to_vec(), judged, baseline);
    }
}
