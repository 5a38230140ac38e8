//! SM217: the last step of the workflow is listed, and earlier ones are not.

use super::{closing, names};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::workflow::WorkState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM217",
    name: "finished-with-gaps",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "The last step of the workflow is listed, and earlier ones are not.",
    why: "The artifact counts as finished though work was left out, or was done and not recorded.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-12-complete]\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [1, 2, 02b, 02c, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n---\n",
    fix: "Complete the steps, or note them as skipped (`stepmark complete ARTIFACT step-02-discovery-skipped`).",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(progress) = subject.progress().filter(|progress| progress.state == WorkState::Finished) else {
        return;
    };
    if !progress.gaps.is_empty() {
        let message = format!("the workflow is finished, but not {}", names(&progress.gaps));
        let finding = subject.finding(&RULE, subject.list(), message);
        found.push(finding.with_help(closing(subject, &progress.gaps)));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_finished_workflow_has_no_gaps() {
        assert_eq!(
            found(&RULE, "---\nworkflowType: choice\nstepsCompleted: [step-03-end]\n---\n"),
            ["3:17 SM217 the workflow is finished, but not `step-01-start`, `step-02-draft`"]
        );
        assert!(found(&RULE, "---\nworkflowType: prd\nstepsCompleted: [1, 3]\n---\n").is_empty());
    }
}
