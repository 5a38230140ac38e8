//! SMC02: tasks wait for each other.

use super::{dependency_span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::coordination::dependency_circle;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC02",
    name: "task-dependency-circle",
    group: Group::Coordination,
    severity: Severity::Error,
    summary: "A task waits for itself, by way of the tasks that it depends on.",
    why: "None of these tasks is ever claimed.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\ndependencies: [tests]\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\ndependencies: []\n---\n",
    fix: "Take the wrong id out of one of the lists.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject).filter(|task| !task.dependencies().is_empty()) else { return };
    let Some(facts) = subject.coordination() else { return };
    let Some(circle) = dependency_circle(&task.id, &facts.state) else { return };
    let span = dependency_span(subject, circle.get(1).unwrap_or(&task.id));
    let message = format!("it waits for itself: {}", circle.join(" → "));
    found.push(subject.finding(&RULE, span, message).with_help("take the wrong id out of one of the lists"));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn all_of_the_circle_are_named_and_no_others() {
        let task =
            |id: &str, on: &str| format!("---\nstepmark_kind: task\nid: {id}\ndependencies: [{on}]\n---\n");
        let found = found_in(
            &RULE,
            &[
                ("a.md", &task("a", "c, b")),
                ("b.md", &task("b", "a")),
                ("c.md", &task("c", "")),
                ("d.md", &task("d", "a")),
            ],
        );
        assert_eq!(
            found,
            [
                "a.md:4:19 SMC02 it waits for itself: a → b → a",
                "b.md:4:16 SMC02 it waits for itself: b → a → b"
            ]
        );
    }
}
