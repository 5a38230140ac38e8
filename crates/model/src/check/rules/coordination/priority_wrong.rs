//! SMC05: the priority of a task is out of range.

use super::{span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC05",
    name: "task-priority-wrong",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "The priority of a task is no whole number from 1, the highest, to 10.",
    why: "Programs of option C refuse the whole file, and others sort it where nobody expects it.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\npriority: 11\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\npriority: 10\n---\n",
    fix: "Write a whole number from 1 to 10; without one it is 5.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject).filter(|task| task.has_odd_priority()) else { return };
    if let Some(priority) = task.values.get("priority") {
        let message = format!("the priority should be a whole number from 1 to 10, not `{priority}`");
        found.push(subject.finding(&RULE, span(subject, "priority"), message));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_priority_is_from_1_to_10() {
        for (priority, is_right) in [
            ("1", true),
            ("10", true),
            ("null", true),
            ("0", false),
            ("-1", false),
            ("2.5", false),
            ("high", false),
        ] {
            let text = RULE.good.replace("priority: 10", &format!("priority: {priority}"));
            assert_eq!(found(&RULE, &text).is_empty(), is_right, "{priority}");
        }
        assert_eq!(
            found(&RULE, RULE.bad),
            ["6:11 SMC05 the priority should be a whole number from 1 to 10, not `11`"]
        );
    }
}
