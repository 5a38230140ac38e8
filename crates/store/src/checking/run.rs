//! One run of a check over artifacts on the disk.

use crate::checking::{
    CheckError, CheckReport, Known, Selection, beside::AllowancesInUse, beside::AllowedRule, cache::Answers,
    cache::Asked, cache::Noted,
};
use crate::disk::in_parts::map_in_parts;
use crate::sprint_status::ledgers::Ledgers;
use crate::workspace::Workspace;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    check::{self, Baseline, Judged, Subject},
    delegation::Chains,
    workflow::WorkflowDefinition,
};

/// What is known so far.
#[derive(Debug)]
pub(crate) struct CheckingRun<'w, 't> {
    workspace: &'w Workspace,
    has_gates: bool,
    baseline: Baseline,
    in_use: AllowancesInUse,
    pub(crate) report: CheckReport<'t>,
}

impl<'w, 't> CheckingRun<'w, 't> {
    pub(crate) fn begin(workspace: &'w Workspace, known: Known) -> Result<Self, CheckError> {
        let baseline = match known {
            Known::LeftOut => workspace.baseline()?,
            Known::Reported => Baseline::default(),
        };
        Ok(Self {
            workspace,
            has_gates: workspace.has_gates(),
            baseline,
            in_use: AllowancesInUse::default(),
            report: CheckReport::default(),
        })
    }

    /// Judges `artifacts` on all processors. `each` hears in their order what was decided about each, and what that took;
    /// `None` for what may change without a trace.
    pub(crate) fn judge(
        &mut self,
        artifacts: &'t [TrackedArtifact],
        chains: Option<&Chains>,
        answers: &Answers<'_>,
        mut each: impl FnMut(&'t TrackedArtifact, &Judged, Option<Noted>),
    ) -> Result<(), CheckError> {
        let run = &*self;
        let judged = map_in_parts(artifacts, |artifact| run.judge_one(artifact, chains, answers));
        let judged: Vec<_> = judged.into_iter().collect::<Result<_, _>>()?;
        for (artifact, (judged, noted)) in artifacts.iter().zip(judged) {
            self.in_use.note(&judged);
            each(artifact, &judged, noted);
            self.report.add(artifact.artifact(), judged, &mut self.baseline);
        }
        Ok(())
    }

    fn judge_one(
        &self,
        artifact: &TrackedArtifact,
        chains: Option<&Chains>,
        answers: &Answers<'_>,
    ) -> Result<(Judged, Option<Noted>), CheckError> {
        let asked = Asked::new(artifact.path(), answers);
        let progress = artifact.progress();
        let subject = Subject {
            chain: artifact.workflow().map(|workflow| &workflow.chain),
            lifecycle: artifact.lifecycle().map(|choice| &*choice.lifecycle),
            environment: Some(&asked),
            chains,
            ..Subject::alone(artifact.artifact(), progress.as_ref())
        };
        let mut findings = check::findings(&subject);
        if self.has_gates {
            asked.note_gates();
            findings.extend(self.workspace.gate_findings(artifact)?);
        }
        let judged = self.workspace.by_policy(&subject, findings);
        Ok((judged, asked.into_noted()))
    }

    /// Notes rules of allowances of which nobody can say whether artifacts that were not read need them.
    pub(crate) fn note_allowances<'p>(&mut self, rules: impl IntoIterator<Item = &'p AllowedRule>) {
        self.in_use.note_rules(rules);
    }

    /// Looks at the files beside artifacts: the step files of their `workflows`, and the ledgers that were asked.
    pub(crate) fn look_beside<'d>(
        &mut self,
        workflows: impl Iterator<Item = &'d WorkflowDefinition>,
        ledgers: Ledgers,
    ) {
        let Self { workspace, baseline, in_use, report, .. } = self;
        workspace.add_step_files(report, workflows, in_use, baseline);
        workspace.add_ledgers(report, ledgers, in_use, baseline);
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
