//! SMF03: a flow without the executions of its tasks.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::FlowKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF03",
    name: "execution-missing",
    group: Group::Flows,
    severity: Severity::Error,
    summary: "A flow names a task whose record is not there.",
    why: "A task without a record is never claimed, and the flow is never complete.",
    bad: "---\nstepmark_kind: task-flow\nid: r1\ngraph: g\ngraph_version: 1\ngraph_digest: x\nstatus: RUNNING\ntasks: [r1.tests]\n---\n",
    good: "---\nstepmark_kind: task-flow\nid: r1\ngraph: g\ngraph_version: 1\ngraph_digest: x\nstatus: RUNNING\ntasks: []\n---\n",
    fix: "`stepmark flow restore FLOW` brings it back. Where `flow create` was cut off, `stepmark flow start FLOW` makes it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(flow) = record(subject, FlowKind::Flow) else { return };
    let (Some(environment), Some(folder)) = (subject.environment, subject.artifact.path().parent()) else {
        return;
    };
    let prefix = format!("{}.", flow.id());
    for id in flow.texts("tasks") {
        let task = id.strip_prefix(&prefix).unwrap_or(id);
        let Ok(path) = folder.join(&format!("tasks/{task}.md")) else { continue };
        if !environment.exists(&path) {
            let message = format!("the task `{task}` has no record: `{path}` is not there");
            let help = format!(
                "`stepmark flow restore {0}` brings it back, or `stepmark flow start {0}` makes it",
                flow.id()
            );
            found.push(subject.finding(&RULE, span(subject, "tasks"), message).with_help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn each_task_has_a_record() {
        let flow = ("flows/r1/flow.md", RULE.bad);
        assert_eq!(
            found_in(&RULE, &[flow, ("flows/r1/tasks/tests.md", "---\nid: r1.tests\n---\n")]),
            [""; 0]
        );
        assert_eq!(
            found_in(&RULE, &[flow]),
            [
                "flows/r1/flow.md:8:8 SMF03 the task `tests` has no record: `flows/r1/tasks/tests.md` is not there"
            ]
        );
    }
}
