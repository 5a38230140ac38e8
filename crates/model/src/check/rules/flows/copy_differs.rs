//! SMF11: an execution that says something else than its graph.

use super::{facts, record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::{FlowKind, execution_record};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF11",
    name: "execution-copy-differs",
    group: Group::Flows,
    severity: Severity::Warning,
    summary: "A task waits for others, or has other scopes, than its graph says.",
    why: "They were copied from the graph, which is frozen; who changed the copy changed the plan unseen.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\n# the graph says [parse]\ndepends_on: []\nstatus: PENDING\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\ndepends_on: [r1.parse]\nstatus: PENDING\n---\n",
    fix: "`stepmark flow restore FLOW` brings it back.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let Some(facts) = facts(subject) else { return };
    let Some(definition) = facts.of(&task).and_then(|state| state.graph.task(task.task())) else { return };
    let copy = execution_record(task.text("flow"), definition);
    for key in ["depends_on", "required_scopes"] {
        let differs = match key {
            "depends_on" => copy.texts(key) != task.texts(key),
            _ => copy.scopes() != task.scopes(),
        };
        if differs {
            let message = format!("`{key}` is not what the graph says");
            found.push(subject.finding(&RULE, span(subject, key), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn a_copy_says_what_the_graph_says() {
        let graph = "---\nstepmark_kind: task-graph\nid: g@v1\ngraph: g\ntasks: [{id: parse}, {id: tests, depends_on: [parse]}]\n---\n";
        let flow = "---\nstepmark_kind: task-flow\nid: r1\nstatus: RUNNING\n---\n";
        for (text, expected) in [(RULE.bad, 1), (RULE.good, 0)] {
            assert_eq!(found_in(&RULE, &[("g.md", graph), ("f.md", flow), ("t.md", text)]).len(), expected);
        }
    }
}
