//! SMF09: a task that goes on after its flow has ended, or began while that was paused.

use super::{facts, record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::{Attempt, FlowKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF09",
    name: "task-outlives-flow",
    group: Group::Flows,
    severity: Severity::Warning,
    summary: "A flow has ended, and one of its tasks has not; or an attempt began after the flow was paused.",
    why: "Nobody claims or judges it any more. In a paused flow nothing begins: two clones did both, and were merged.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\n# the flow r1 is ABORTED\nstatus: RUNNING\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\n# the flow r1 is ABORTED\nstatus: FAILED\n---\n",
    fix: "Where `flow abort` was cut off, `stepmark flow abort FLOW` ends its tasks. `stepmark flow resume FLOW` lets a paused one go on.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    if task.has_ended() {
        return;
    }
    let Some(facts) = facts(subject) else { return };
    let Some(flow) = facts.of(&task).map(|state| &state.flow) else { return };
    if !["CREATED", "RUNNING", "PAUSED"].contains(&flow.status()) {
        let message = format!("it is `{}`, and its flow is `{}`", task.status(), flow.status());
        let help = format!("`stepmark flow abort {}` ends what is left of an aborted flow", flow.id());
        found.push(subject.finding(&RULE, span(subject, "status"), message).with_help(help));
    }
    let began = |attempt: &Attempt| {
        flow.texts("paused_at").last().is_some_and(|at| *at < attempt.started_at.as_str())
    };
    if flow.status() == "PAUSED"
        && let Some(attempt) = task.open_attempt().filter(began)
    {
        let message = format!("the attempt `{}` began after `{}` was paused", attempt.attempt_id, flow.id());
        let help = format!("`stepmark flow resume {}` lets it go on", flow.id());
        found.push(subject.finding(&RULE, span(subject, "status"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn nothing_begins_in_a_paused_flow() {
        for (started, expected) in [("2026-11-01T11:00:00Z", 0), ("2026-11-01T13:00:00Z", 1)] {
            let flow = "---\nstepmark_kind: task-flow\nid: r1\nstatus: PAUSED\npaused_at: ['2026-11-01T12:00:00Z']\n---\n";
            let attempts = format!("attempt: {{attempt_id: r1.tests.1, started_at: '{started}'}}\nstatus:");
            let task = RULE.bad.replace("status:", &attempts);
            let found = found_in(&RULE, &[("f.md", flow), ("t.md", &task)]);
            assert_eq!(found.len(), expected, "{started}: {found:?}");
        }
    }

    #[test]
    fn tasks_end_with_their_flow() {
        for (status, expected) in [("ABORTED", 1), ("RUNNING", 0), ("PAUSED", 0), ("COMPLETED", 1)] {
            let flow = format!("---\nstepmark_kind: task-flow\nid: r1\nstatus: {status}\n---\n");
            assert_eq!(found_in(&RULE, &[("f.md", &flow), ("t.md", RULE.bad)]).len(), expected, "{status}");
        }
    }
}
