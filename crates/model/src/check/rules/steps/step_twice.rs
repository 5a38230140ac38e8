//! SM204: a step stands twice in its list.

use std::collections::HashMap;

use super::without_item;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::{Problem, Steps},
    check::{Fix, Safety},
};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM204",
    name: "step-twice",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A step stands twice in its list.",
    why: "Tools that count items take the workflow for further than it is.",
    bad: "---\nstepsCompleted: [step-01-init, step-02-discovery, step-01-init]\n---\n",
    good: "---\nstepsCompleted: [step-01-init, step-02-discovery]\n---\n",
    fix: "Remove one of them. stepmark counts a step once, at its first place.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let findings = subject.diagnosed(&RULE, |problem| matches!(problem, Problem::StepTwice { .. }));
    found.extend(findings.enumerate().map(|(nth, finding)| {
        let fix = without_repetition(subject, nth, finding.span);
        finding.with_help("remove it").with_fix(fix)
    }));
    let spellings = subject.artifact.steps().into_iter().flat_map(Steps::spellings).enumerate();
    let mut first = HashMap::new();
    spellings.for_each(|(at, spelling)| _ = first.entry(spelling).or_insert(at));
    let duplicates = subject.progress().into_iter().flat_map(|progress| &progress.duplicates);
    for (nth, at) in duplicates.enumerate() {
        let (span, spelling) = subject.item(*at);
        // The same spelling twice is seen without a workflow; `step:part` is progress within a step.
        if first.get(spelling) == Some(at) && !spelling.contains(':') {
            let message = format!("`{spelling}` names a step that is listed already");
            let fix = without_repetition(subject, nth, span);
            found.push(subject.finding(&RULE, span, message).with_help("remove one of them").with_fix(fix));
        }
    }
}

/// Some tools resume after the last item of the list, so taking that away is not for a program to decide.
fn without_repetition(subject: &Subject<'_>, nth: usize, item: Span) -> Option<Fix> {
    let lists = subject.artifact.state().steps.iter();
    let is_last = lists.filter_map(|list| list.items.last()).any(|last| last.span == item);
    let safety = if is_last { Safety::Unsafe } else { Safety::Safe };
    without_item(subject, nth, item, safety, "remove the repetition")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn the_same_spelling_is_seen_without_a_workflow() {
        let file = "---\nstepsCompleted: [1, x, 1, 2]\n---\n";
        assert_eq!(found(&RULE, file), ["2:24 SM204 `1` stands twice in `stepsCompleted`"]);
        assert_eq!(fixed(&RULE, file).as_deref(), Some("---\nstepsCompleted: [1, x, 2]\n---\n"));
    }

    #[test]
    fn two_spellings_of_a_step_are_seen_with_it() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, step-01-init.md, '2']\n---\n";
        assert_eq!(found(&RULE, file), ["3:21 SM204 `step-01-init.md` names a step that is listed already"]);
        for list in ["[2, 02b]", "['step-02-discovery:part-1', 'step-02-discovery:part-2']"] {
            let file = format!("---\nworkflowType: prd\nstepsCompleted: {list}\n---\n");
            assert!(found(&RULE, &file).is_empty(), "{list}");
        }
    }
}
