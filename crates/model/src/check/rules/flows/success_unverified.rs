//! SMF04: a task that succeeded without a verification.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::FlowKind;
use crate::lifecycle::Guard;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF04",
    name: "success-unverified",
    group: Group::Flows,
    severity: Severity::Error,
    summary: "A task succeeded, and its last attempt has no verification that passed, and no person let it pass.",
    why: "Nobody has judged the work that others build on.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: SUCCESS\nattempts: [{attempt_id: r1.tests.1, exit_status: 0}]\nverifications: []\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: SUCCESS\nattempts: [{attempt_id: r1.tests.1, exit_status: 0}]\nverifications: [{attempt_id: r1.tests.1, verifier: {agent: v, decision: PASS}}]\n---\n",
    fix: "`stepmark flow restore FLOW` brings the status of history back. `stepmark flow verify` judges an attempt.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution).filter(|task| task.status() == "SUCCESS") else {
        return;
    };
    let is_overridden = task.human_actions().iter().any(|action| action.action == "override");
    if let Some(unmet) = Guard::Verified.unmet_in(subject.artifact).filter(|_| !is_overridden) {
        found.push(subject.finding(&RULE, span(subject, "status"), format!("it is `SUCCESS`, and {unmet}")));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn success_is_judged() {
        let by_person = "human_actions: [{action: override, actor: 'human:A'}]\n---";
        let waits = RULE.bad.replace("SUCCESS", "VERIFYING");
        for (text, expected) in [
            (
                RULE.bad.to_owned(),
                "6:9 SMF04 it is `SUCCESS`, and the attempt `r1.tests.1` has no verification",
            ),
            (format!("{}{by_person}\n", RULE.bad.trim_end().trim_end_matches('-')), ""),
            (waits, ""),
        ] {
            assert_eq!(found(&RULE, &text).concat(), expected, "{text}");
        }
    }
}
