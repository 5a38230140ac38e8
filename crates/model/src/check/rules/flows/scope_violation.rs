//! SMF08: an attempt that changed files of others.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::{FlowKind, allows};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF08",
    name: "scope-violation",
    group: Group::Flows,
    severity: Severity::Warning,
    summary: "An attempt reports a changed file that the task may not write.",
    why: "Tasks run side by side because they write different files.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: VERIFYING\nrequired_scopes: {write: [src]}\nattempts: [{attempt_id: r1.tests.1, output_summary: {files_changed: [docs/a.md]}}]\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: VERIFYING\nrequired_scopes: {write: [src]}\nattempts: [{attempt_id: r1.tests.1, output_summary: {files_changed: [src/a.rs]}}]\n---\n",
    fix: "Take the change back, or give the task the scope in the next version of its graph.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let scopes = task.scopes().write;
    for attempt in task.attempts().into_iter().filter(|_| !scopes.is_empty()) {
        let changed = attempt.output_summary.map(|summary| summary.files_changed).unwrap_or_default();
        for file in changed.iter().filter(|file| !allows(&scopes, file)) {
            let message = format!(
                "the attempt `{}` changed `{file}`, which the task may not write",
                attempt.attempt_id
            );
            found.push(subject.finding(&RULE, span(subject, "attempts"), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_task_without_scopes_may_write_all() {
        let told = ["8:11 SMF08 the attempt `r1.tests.1` changed `docs/a.md`, which the task may not write"];
        assert_eq!(found(&RULE, RULE.bad), told);
        assert_eq!(found(&RULE, &RULE.bad.replace("[src]", "[]")), [""; 0]);
    }
}
