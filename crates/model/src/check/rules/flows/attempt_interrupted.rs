//! SMF10: an attempt that was cut off.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::FlowKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF10",
    name: "attempt-interrupted",
    group: Group::Flows,
    severity: Severity::Note,
    summary: "An attempt ended without an exit status: its agent went silent, or a person cut it off.",
    why: "What it has changed until then, nobody has reported.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: RETRY\nattempts: [{attempt_id: r1.tests.1, ended_at: '2026-11-25T12:00:00Z'}]\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: RETRY\nattempts: [{attempt_id: r1.tests.1, ended_at: '2026-11-25T12:00:00Z', exit_status: 1}]\n---\n",
    fix: "Look at what it has left behind. The attempt itself stays listed.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    // What succeeded later needs no look.
    if task.status() == "SUCCESS" {
        return;
    }
    for attempt in task.attempts() {
        if attempt.ended_at.is_some() && attempt.exit_status.is_none() {
            let message = format!("the attempt `{}` of `{}` was cut off", attempt.attempt_id, attempt.agent);
            found.push(subject.finding(&RULE, span(subject, "attempts"), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn what_was_cut_off_is_told_until_it_succeeded() {
        assert_eq!(found(&RULE, RULE.bad), ["7:11 SMF10 the attempt `r1.tests.1` of `` was cut off"]);
        assert_eq!(found(&RULE, &RULE.bad.replace("RETRY", "SUCCESS")), [""; 0]);
    }
}
