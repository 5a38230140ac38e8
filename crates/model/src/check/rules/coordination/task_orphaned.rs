//! SMC07: the agent of a task is silent.

use super::{span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC07",
    name: "task-orphaned",
    group: Group::Coordination,
    severity: Severity::Note,
    summary: "The agent of a task has given no sign of life for longer than `stale_seconds`.",
    why: "It has probably died. The next claim makes the task available again; until then nobody works \
          on it. Signs of life are those that this clone has seen.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: claimed\nclaimed_by: worker-1\nclaimed_at: '2026-11-24T09:00:00Z'\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: claimed\nclaimed_by: worker-1\nclaimed_at: '2026-11-24T11:50:00Z'\n---\n",
    fix: "If the agent lives, it runs `stepmark coordination heartbeat`; else `stepmark task claim` by \
          another frees it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    if facts.orphaned.contains(&task.id) {
        let agent = task.claimed_by().unwrap_or("nobody");
        let message = format!("`{agent}`, which has it, is silent for too long");
        let help = "the next `stepmark task claim` makes it available again";
        found.push(subject.finding(&RULE, span(subject, "claimed_by"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_silent_agent_is_told_of() {
        assert_eq!(found(&RULE, RULE.bad), ["6:13 SMC07 `worker-1`, which has it, is silent for too long"]);
        assert!(found(&RULE, &RULE.bad.replace("claimed\n", "done\n")).is_empty());
    }
}
