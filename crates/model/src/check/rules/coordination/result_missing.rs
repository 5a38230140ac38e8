//! SMC06: a task has ended without a result.

use super::{span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::coordination::is_done;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC06",
    name: "task-result-missing",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "A task is done and has no `result.output`, or has failed and has no `result.error`.",
    why: "Whoever depends on it learns nothing of what was done, or why it was not.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: done\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: done\nresult:\n  output: It fails as it should\n---\n",
    fix: "Write it. `stepmark task done` and `stepmark task fail` ask for it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject) else { return };
    let wanted = match task.status() {
        _ if is_done(task) => "output",
        "failed" => "error",
        _ => return,
    };
    let said = task.values.get("result").and_then(|result| result.get(wanted)?.as_str());
    if said.is_none_or(str::is_empty) {
        let message = format!("it is `{}`, and `result.{wanted}` says nothing", task.status());
        found.push(subject.finding(&RULE, span(subject, "status"), message));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_task_that_has_ended_says_how() {
        let text = |status: &str, result: &str| {
            RULE.bad.replace("status: done\n", &format!("status: {status}\nresult: {result}\n"))
        };
        for (status, result, expected) in [
            ("done", "{output: x}", ""),
            ("available", "null", ""),
            ("failed", "{error: x}", ""),
            ("completed", "{output: ''}", "5:9 SMC06 it is `completed`, and `result.output` says nothing"),
            ("failed", "{output: x}", "5:9 SMC06 it is `failed`, and `result.error` says nothing"),
            ("done", "text", "5:9 SMC06 it is `done`, and `result.output` says nothing"),
        ] {
            assert_eq!(found(&RULE, &text(status, result)).concat(), expected, "{status} {result}");
        }
    }
}
