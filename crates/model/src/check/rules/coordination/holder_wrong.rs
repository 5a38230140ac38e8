//! SMC03: the agent of a task is missing, or left over.

use super::{span, task};
use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};
use crate::coordination::is_held;
use stepmark_frontmatter::{Edit, KeyPath, Value};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC03",
    name: "task-holder-wrong",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "A task is claimed or in progress and names no agent, or names one and is neither claimed nor \
          ended.",
    why: "Only its agent may end a task: without one it stays as it is until it counts as orphaned. A \
          name that is left over makes people ask the wrong agent.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\nclaimed_by: worker-1\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\nclaimed_by: null\n---\n",
    fix: "Where it is left over, `stepmark check --fix --unsafe-fixes` takes it out. Where it is missing, write the \
          agent, or `status: available`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject) else { return };
    match task.claimed_by() {
        None if is_held(task) => {
            let message = format!("it is `{}`, and no agent has it", task.status());
            let help = "write the agent under `claimed_by`, or `status: available`";
            found.push(subject.finding(&RULE, span(subject, "status"), message).with_help(help));
        }
        Some(agent) if ["available", "pending", "blocked"].contains(&task.status()) => {
            let message = format!("it is `{}`, and `{agent}` still has it", task.status());
            let edit = Edit::Set { path: KeyPath::key("claimed_by"), value: Value::Null };
            let title = format!("take `{agent}` out of `claimed_by`");
            let fix = Fix::edit(Safety::Unsafe, title, subject.artifact, &[edit]);
            let help = "take it out, or write the status that is meant";
            let finding = subject.finding(&RULE, span(subject, "claimed_by"), message);
            found.push(finding.with_help(help).with_fix(fix));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn who_holds_a_task_agrees_with_its_status() {
        for (status, agent, expected) in [
            ("available", "null", ""),
            ("done", "w", ""),
            ("claimed", "w", ""),
            ("odd", "w", ""),
            ("in_progress", "''", "5:9 SMC03 it is `in_progress`, and no agent has it"),
            ("pending", "w", "6:13 SMC03 it is `pending`, and `w` still has it"),
        ] {
            let text = RULE.good.replace("available", status).replace("null", agent);
            assert_eq!(found(&RULE, &text).concat(), expected, "{status} {agent}");
        }
        assert_eq!(fixed(&RULE, RULE.bad).as_deref(), Some(RULE.good));
    }
}
