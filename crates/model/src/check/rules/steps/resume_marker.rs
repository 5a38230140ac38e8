//! SM213: a list holds the mark of a resumed session.

use super::without_item;
use crate::check::Safety;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM213",
    name: "resume-marker",
    group: Group::Steps,
    severity: Severity::Note,
    summary: "A list holds the mark of a resumed session.",
    why: "Some workflows append `step-01b-continue` each time a session resumes. It is not progress, \
              and tools that resume after the last item find no step behind it.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-01b-continue]\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init]\n---\n",
    fix: "Remove it, or leave it: stepmark does not count it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for (nth, at) in subject.progress().into_iter().flat_map(|progress| &progress.resume_markers).enumerate()
    {
        let (span, spelling) = subject.item(*at);
        let message = format!("`{spelling}` marks a resumed session; it is not progress");
        let fix = without_item(subject, nth, span, Safety::Unsafe, "remove the mark");
        found.push(subject.finding(&RULE, span, message).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn the_mark_of_a_session_is_no_progress() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, step-01b-continue]\n---\n";
        assert_eq!(
            found(&RULE, file),
            ["3:21 SM213 `step-01b-continue` marks a resumed session; it is not progress"]
        );
        assert_eq!(fixed(&RULE, file).as_deref(), Some("---\nworkflowType: prd\nstepsCompleted: [1]\n---\n"));
        assert!(found(&RULE, "---\nworkflowType: prd\nstepsCompleted: [1, 2]\n---\n").is_empty());
    }
}
