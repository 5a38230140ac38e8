//! SMF05: a count of attempts that is not their number.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::FlowKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF05",
    name: "attempt-count-wrong",
    group: Group::Flows,
    severity: Severity::Warning,
    summary: "`attempt_count` is not the number of attempts.",
    why: "It decides how often the task is tried.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: RETRY\nattempt_count: 3\nattempts: [{attempt_id: r1.tests.1, exit_status: 0}]\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: RETRY\nattempt_count: 1\nattempts: [{attempt_id: r1.tests.1, exit_status: 0}]\n---\n",
    fix: "A person decides: `stepmark flow restore FLOW` takes the edit back.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let number = task.attempts().len() + usize::from(task.open_attempt().is_some());
    let count = task.number("attempt_count");
    if usize::try_from(count) == Ok(number) {
        return;
    }
    let message = format!("`attempt_count` is {count}, and there are {number} attempts");
    found.push(subject.finding(&RULE, span(subject, "attempt_count"), message));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn open_attempts_count() {
        assert_eq!(found(&RULE, RULE.good), [""; 0]);
        let open =
            RULE.good.replace("attempt_count: 1", "attempt_count: 2\nattempt: {attempt_id: r1.tests.2}");
        assert_eq!(found(&RULE, &open), [""; 0]);
        assert_eq!(found(&RULE, RULE.bad), ["7:16 SMF05 `attempt_count` is 3, and there are 1 attempts"]);
    }
}
