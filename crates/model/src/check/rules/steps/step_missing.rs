//! SM212: later steps are listed, and one before them is not.

use super::{closing, names};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::workflow::WorkState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM212",
    name: "step-missing",
    group: Group::Steps,
    severity: Severity::Note,
    summary: "Later steps are listed, and one before them is not.",
    why: "Either work was left out, or it was done and not recorded. stepmark goes on after the \
              furthest step and never returns to a gap.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02b-vision]\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery, step-02b-vision]\n---\n",
    fix: "Complete the steps, or note them as skipped: `stepmark complete ARTIFACT step-02-discovery-skipped`. Either puts them in their place.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(progress) = subject.progress().filter(|progress| progress.state != WorkState::Finished) else {
        return;
    };
    if !progress.gaps.is_empty() {
        let message = format!("later steps are listed, but not {}", names(&progress.gaps));
        let finding = subject.finding(&RULE, subject.list(), message);
        found.push(finding.with_help(closing(subject, &progress.gaps)));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_gap_is_named_and_one_that_was_skipped_is_none() {
        assert_eq!(
            found(&RULE, "---\nworkflowType: prd\nstepsCompleted: [1, 02b]\n---\n"),
            ["3:17 SM212 later steps are listed, but not `step-02-discovery`"]
        );
        let skipped = "---\nworkflowType: prd\nstepsCompleted: [1, step-02-discovery-skipped, 02b]\n---\n";
        assert!(found(&RULE, skipped).is_empty());
        assert!(found(&RULE, "---\nworkflowType: prd\nstepsCompleted: [step-12-complete]\n---\n").is_empty());
    }
}
