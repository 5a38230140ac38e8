//! SM215: `lastStep` is no step of the workflow.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::workflow::LastStep;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM215",
    name: "last-step-unknown",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "`lastStep` is no step of the workflow.",
    why: "Tools that resume after it find nothing to go on with. The list counts here.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init]\nlastStep: step-42-other\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init]\nlastStep: step-01-init\n---\n",
    fix: "Make `lastStep` the last step of the list, or remove it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(progress), Some(last)) = (subject.progress(), &subject.artifact.state().last_step) else {
        return;
    };
    if progress.last_step == LastStep::Unknown {
        let message = format!("`lastStep: {}` is no step of the workflow", last.text);
        found.push(subject.finding(&RULE, last.span, message).with_help("the list counts"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_last_step_should_be_one() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1]\nlastStep: 42\n---\n";
        assert_eq!(found(&RULE, file), ["4:11 SM215 `lastStep: 42` is no step of the workflow"]);
        assert!(found(&RULE, &file.replace("42", "1")).is_empty());
    }
}
