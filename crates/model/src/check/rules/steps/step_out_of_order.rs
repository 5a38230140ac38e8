//! SM211: a step stands after a later one.

use super::argument;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM211",
    name: "step-out-of-order",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A step stands after a later one.",
    why: "Tools that resume after the last item of the list go back to a step that is done.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02b-vision, step-02-discovery]\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery, step-02b-vision]\n---\n",
    fix: "Put the steps in the order of the workflow: `stepmark reopen` takes them out, and `stepmark complete` puts them in their place. stepmark goes on after the furthest step, \
              wherever it stands.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let places = subject.progress().map_or(&[][..], |progress| &progress.out_of_order);
    let path = argument(subject.artifact.path().as_str());
    // One alone would find no place, since the list is in no order without the others.
    let steps: Vec<_> = places.iter().map(|at| argument(subject.item(*at).1)).collect();
    let steps = steps.join(" ");
    for at in places {
        let (span, spelling) = subject.item(*at);
        let message = format!("`{spelling}` stands after a later step");
        found.push(subject.finding(&RULE, span, message).with_help(format!(
            "`stepmark reopen {path} {steps}`, then `stepmark complete {path} {steps}` puts it in its place"
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_earlier_step_is_named() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, 3, 2]\n---\n";
        assert_eq!(found(&RULE, file), ["3:24 SM211 `2` stands after a later step"]);
        assert!(found(&RULE, "---\nworkflowType: prd\nstepsCompleted: [1, 2, 02b, 3]\n---\n").is_empty());
    }
}
