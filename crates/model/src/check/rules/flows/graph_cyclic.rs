//! SMF02: a graph that cannot be run.

use super::{record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::{FlowKind, Graph};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF02",
    name: "graph-cannot-be-run",
    group: Group::Flows,
    severity: Severity::Error,
    summary: "A graph cannot be run: its tasks wait for each other, depend on what is not there, or share an id.",
    why: "No flow is made of it: it would never come to its end.",
    bad: "---\nstepmark_kind: task-graph\nid: g@v1\ngraph: g\nversion: 1\nstatus: DRAFT\ntasks:\n  - {id: a, depends_on: [b]}\n  - {id: b, depends_on: [a]}\n---\n",
    good: "---\nstepmark_kind: task-graph\nid: g@v1\ngraph: g\nversion: 1\nstatus: DRAFT\ntasks:\n  - {id: a}\n  - {id: b, depends_on: [a]}\n---\n",
    fix: "Take the wrong id out of `depends_on`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(record) = record(subject, FlowKind::Graph) else { return };
    let told = match Graph::of(&record) {
        Ok(graph) => graph.check().err().map(|problem| problem.to_string()),
        Err(error) => Some(error.to_string()),
    };
    found.extend(told.map(|told| subject.finding(&RULE, span(subject, "tasks"), told)));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn what_cannot_be_run_is_told() {
        for (old, new, expected) in [
            ("[b]", "[b]", "8:3 SMF02 tasks wait for each other: a → b → a"),
            ("[b]", "[c]", "8:3 SMF02 the task `a` depends on `c`, which is no task of the graph"),
            ("[b]", "[]", ""),
        ] {
            assert_eq!(found(&RULE, &RULE.bad.replace(old, new)).concat(), expected, "{new}");
        }
    }
}
