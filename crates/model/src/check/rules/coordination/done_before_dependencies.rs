//! SMC04: a task is done before what it depends on.

use super::{dependency_span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::coordination::is_done;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC04",
    name: "task-done-before-dependencies",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "A task is done, and one that it depends on is not.",
    why: "What it was built on is not there yet, has failed or was cancelled: its result may be wrong.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: done\ndependencies: [parser]\nresult: {output: It fails as it should}\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: done\ndependencies: []\nresult: {output: It fails as it should}\n---\n",
    fix: "End the other task, or take it out of the list where it was not needed.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject).filter(|task| is_done(task)) else { return };
    let Some(facts) = subject.coordination() else { return };
    for id in facts.undone(task) {
        let status = facts.state.task(id).map(|task| task.status()).unwrap_or_default();
        let message = format!("it is done, and `{id}`, which it depends on, is `{status}`");
        let help = "end the other task, or take it out of the list";
        found.push(subject.finding(&RULE, dependency_span(subject, id), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, path_of};

    #[test]
    fn what_a_finished_task_depends_on_is_done() {
        for (status, expected) in [
            ("done", ""),
            ("failed", "6:16 SMC04 it is done, and `parser`, which it depends on, is `failed`"),
            ("in_progress", "6:16 SMC04 it is done, and `parser`, which it depends on, is `in_progress`"),
        ] {
            let parser = format!("---\nstepmark_kind: task\nid: parser\nstatus: {status}\n---\n");
            let found = found_in(&RULE, &[(path_of(&RULE), RULE.bad), ("parser.md", &parser)]);
            let expected: Vec<_> = Some(expected)
                .filter(|text| !text.is_empty())
                .map(|text| format!("{}:{text}", path_of(&RULE)))
                .into_iter()
                .collect();
            assert_eq!(found, expected, "{status}");
        }
    }
}
