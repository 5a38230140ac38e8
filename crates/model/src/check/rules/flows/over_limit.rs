//! SMF06: a task that was tried more often than it may be.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::FlowKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF06",
    name: "attempts-over-limit",
    group: Group::Flows,
    severity: Severity::Warning,
    summary: "A task was tried more often than `max_attempts` allows.",
    why: "The graph bounds what a task may cost; only a person allows more, by `stepmark flow retry`.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: RETRY\nmax_attempts: 1\nattempt_count: 2\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: RETRY\nmax_attempts: 2\nattempt_count: 2\n---\n",
    fix: "A person decides: `stepmark flow retry FLOW TASK --max-attempts N` allows more.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let (count, most) = (task.number("attempt_count"), task.number("max_attempts"));
    if count > most && task.values().contains_key("max_attempts") {
        let message = format!("it was tried {count} times, and `max_attempts` allows {most}");
        found.push(subject.finding(&RULE, span(subject, "attempt_count"), message));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_limit_is_kept() {
        assert_eq!(found(&RULE, RULE.bad), ["8:16 SMF06 it was tried 2 times, and `max_attempts` allows 1"]);
    }
}
