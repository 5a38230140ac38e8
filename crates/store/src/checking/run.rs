//! One run of a check over artifacts on the disk.

use crate::bmad::sprint::Ledgers;
use crate::checking::{
    CheckError, CheckReport, Known, Selection, beside::AllowancesInUse, beside::AllowedRule, cache::Answers,
    cache::Asked, cache::Noted, kept_chains::ChainPart,
};
use crate::disk::in_parts::par_map;
use crate::workspace::Workspace;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    check::{self, Baseline, Judged, ProblemCounts, Subject},
    delegation::Chains,
    workflow::WorkflowDefinition,
};

/// The digest of a baseline of these bytes; one that is not there knows nothing.
pub(crate) fn digest_of_baseline(bytes: Option<&[u8]>) -> String {
    FileHash::of(bytes.unwrap_or_default()).to_string()
}

/// The state of a check that is under way.
#[derive(Debug)]
pub(crate) struct CheckingRun<'w, 't> {
    workspace: &'w Workspace,
    has_gates: bool,
    baseline: Baseline,
    /// The digest of the baseline, as `Facts` hold it.
    baseline_digest: String,
    in_use: AllowancesInUse,
    pub(crate) report: CheckReport<'t>,
}

impl<'w, 't> CheckingRun<'w, 't> {
    pub(crate) fn begin(workspace: &'w Workspace, known: Known) -> Result<Self, CheckError> {
        let bytes = match known {
            Known::LeftOut => workspace.baseline_bytes()?,
            Known::Reported => None,
        };
        let baseline = bytes.as_deref().map_or_else(|| Ok(Baseline::default()), Baseline::read)?;
        Ok(Self {
            workspace,
            has_gates: workspace.gates().exist(),
            baseline,
            baseline_digest: digest_of_baseline(bytes.as_deref()),
            in_use: AllowancesInUse::default(),
            report: CheckReport::default(),
        })
    }

    /// Judges `artifacts` on all processors. `each` hears in their order how many problems each has, with
    /// what that took, and the note that `note` makes of it; not of those of which that makes none, or that
    /// may change without a trace.
    pub(crate) fn judge(
        &mut self,
        artifacts: &'t [TrackedArtifact],
        chains: Option<&Chains>,
        answers: &Answers<'_>,
        note: impl Fn(&TrackedArtifact) -> Option<Vec<u8>> + Sync,
        mut each: impl FnMut(&'t TrackedArtifact, ProblemCounts, Noted, Vec<u8>),
    ) -> Result<(), CheckError> {
        let run = &*self;
        let judged = par_map(artifacts, |artifact| {
            let (judged, noted) = run.judge_one(artifact, chains, answers)?;
            let noted = noted.and_then(|noted| {
                Some((run.with_own_facts(noted, artifact, chains, &judged), note(artifact)?))
            });
            Ok((judged, noted))
        });
        let judged: Vec<_> = judged.into_iter().collect::<Result<_, CheckError>>()?;
        for (artifact, (judged, noted)) in artifacts.iter().zip(judged) {
            self.in_use.note(&judged);
            let problems = self.report.add(artifact.artifact(), judged, &mut self.baseline);
            if let Some((noted, note)) = noted {
                each(artifact, problems, noted, note);
            }
        }
        Ok(())
    }

    /// Adds what concerns files beside the artifact.
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
    ) -> Result<(Judged, Option<Noted>), CheckError> {
        let asked = Asked::new(artifact.path(), answers);
        let subject = Subject::of(artifact).within(&asked).with_chains(chains);
        let mut findings = check::findings(&subject);
        // What cannot be read lists no step.
        if self.has_gates && artifact.artifact().is_readable() {
            asked.note_gates();
            findings.extend(self.workspace.gates().findings(artifact)?);
        }
        let judged = self.workspace.by_policy(&subject, findings);
        Ok((judged, asked.into_noted()))
    }

    /// Notes rules of allowances of which nobody can say whether artifacts that were not read need them.
    pub(crate) fn note_allowances<'p>(&mut self, rules: impl IntoIterator<Item = &'p AllowedRule>) {
        self.in_use.note_rules(rules);
    }

    /// Looks at the files that follow records.
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

    /// Looks at the files beside artifacts: the step files of their `workflows`, the ledgers that were asked,
    /// and those of all `stories`, where they are known.
    pub(crate) fn scan_other_files<'d>(
        &mut self,
        workflows: impl Iterator<Item = &'d WorkflowDefinition>,
        ledgers: Ledgers,
        stories: Option<&[ProjectPath]>,
    ) {
        let Self { workspace, baseline, in_use, report, .. } = self;
        workspace.add_step_files(report, workflows, in_use, baseline);
        let mut found = ledgers.into_unusable().0;
        found.extend(stories.map(|stories| workspace.ledgers().unmatched(stories)).into_iter().flatten());
        workspace.add_ledgers(report, found, in_use, baseline);
    }

    /// The report.
    pub(crate) fn finish(mut self, selection: Selection) -> CheckReport<'t> {
        if selection == Selection::All {
            self.workspace.add_unused_allowances(&mut self.report, &self.in_use, &mut self.baseline);
            self.report.left_out.gone = self.baseline.len();
        }
        self.report
    }
}
