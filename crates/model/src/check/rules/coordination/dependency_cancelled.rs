//! SMC12: a task waits for one that was cancelled.

use super::{dependency_span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC12",
    name: "task-dependency-cancelled",
    group: Group::Coordination,
    severity: Severity::Note,
    summary: "A task waits for one that was cancelled.",
    why: "The task is never claimed. A merge brings it about where one clone adds the task and another cancels what it needs.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\n# the task parser is cancelled\ndependencies: [parser]\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\ndependencies: []\n---\n",
    fix: "Cancel it too (`stepmark task cancel`), or take the id out of the list.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let is_open = |status: &str| !["done", "failed", "cancelled"].contains(&status);
    let Some(task) = task(subject).filter(|task| is_open(task.status())) else { return };
    let Some(facts) = subject.coordination() else { return };
    let is_cancelled = |id: &&str| facts.state.task(id).is_some_and(|task| task.status() == "cancelled");
    found.extend(task.dependencies().into_iter().filter(is_cancelled).map(|id| {
        let message = format!("it waits for `{id}`, which was cancelled");
        let help = format!("`stepmark task cancel {}`, or take the id out of the list", task.id);
        subject.finding(&RULE, dependency_span(subject, id), message).with_help(help)
    }));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, path_of};

    #[test]
    fn what_was_cancelled_is_never_done() {
        for (status, expected) in [("cancelled", 1), ("failed", 0), ("available", 0)] {
            let parser = format!("---\nstepmark_kind: task\nid: parser\nstatus: {status}\n---\n");
            let found = found_in(&RULE, &[(path_of(&RULE), RULE.bad), ("parser.md", &parser)]);
            assert_eq!(found.len(), expected, "{status}: {found:?}");
        }
    }
}
