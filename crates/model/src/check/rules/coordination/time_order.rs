//! SMC10: the times of a task are out of order.

use super::{span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC10",
    name: "task-times-out-of-order",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "A task was claimed before it was made, started before it was claimed, or ended before it was \
          started.",
    why: "Orphaned tasks are found by these times, and the oldest task is claimed first.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: claimed\ncreated_at: '2026-11-24T10:00:00Z'\nclaimed_at: '2026-11-24T09:00:00Z'\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: claimed\ncreated_at: '2026-11-24T09:00:00Z'\nclaimed_at: '2026-11-24T10:00:00Z'\n---\n",
    fix: "Write the times as they were; one without a zone is taken for UTC.",
    decision: Decision::OfArtifact(check),
};

/// The times of a task, in the order in which they come.
const TIMES: [&str; 4] = ["created_at", "claimed_at", "started_at", "completed_at"];

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject) else { return };
    let times: Vec<_> = TIMES.iter().filter_map(|key| Some((*key, task.time(key)?))).collect();
    for pair in times.windows(2) {
        let [(earlier, before), (later, after)] = pair else { continue };
        // Some programs keep no fractions of seconds.
        if after.as_second() < before.as_second() {
            let message = format!("`{later}` is before `{earlier}`");
            found.push(subject.finding(&RULE, span(subject, later), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn times_follow_each_other() {
        let text = "---\nstepmark_kind: task\nid: t\ncreated_at: '2026-11-24T10:00:00.7Z'\nclaimed_at: 2026-11-24T10:00:00\n\
                    started_at: later\ncompleted_at: '2026-11-24T10:59:00+01:00'\n---\n";
        assert_eq!(found(&RULE, text), ["7:15 SMC10 `completed_at` is before `claimed_at`"]);
    }
}
