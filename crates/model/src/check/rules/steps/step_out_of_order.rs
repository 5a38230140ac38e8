//! SM211: a step stands after a later one.

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
    fix: "Put the steps in the order of the workflow. stepmark goes on after the furthest step, \
              wherever it stands.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for at in subject.progress().into_iter().flat_map(|progress| &progress.out_of_order) {
        let (span, spelling) = subject.item(*at);
        found.push(subject.finding(&RULE, span, format!("`{spelling}` stands after a later step")));
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
