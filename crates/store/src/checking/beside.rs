//! The findings of a check in files beside the artifacts: ledgers of sprints, the configuration.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ptr,
};

use crate::disk::CONFIGURATION_PATH;
#[cfg(feature = "write")]
use crate::projection::file_findings::FileFindings;
use crate::workspace::Workspace;
use crate::{bmad::sprint::BrokenSprintStatus, checking::CheckReport, configuration::PathAllowance};
use stepmark_model::{
    artifact::ProjectPath,
    check::{
        Baseline, Finding, Judged, Rule,
        rules::{references::successor_missing_finding, suppression::allowance_unused_finding},
    },
    workflow::{ChainDiagnosis, WorkflowDefinition},
};

/// A rule of an entry of `check.allow`: the place of the entry, and the id of the rule.
pub(crate) type AllowedRule = (usize, String);

/// The rules of entries of `check.allow` that accepted something, or of which nobody can say.
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
    /// Adds the step files of `workflows` that name a successor which is not there.
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
            // It was read when its workflow was; one that went away since names nothing any more.
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

    /// Adds files that follow records and say something else.
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

    /// Adds the entries of `check.allow` in the project's configuration that accepted nothing in any
    /// artifact.
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
