//! SMF01: a flow whose graph is another one than it was made of.

use super::{facts, record, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::flows::FlowKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF01",
    name: "flow-graph-changed",
    group: Group::Flows,
    severity: Severity::Error,
    summary: "The graph of a flow says other tasks than when the flow was made.",
    why: "The flow was planned by the tasks of then; what it does now, nobody has planned. Its commands are refused.",
    bad: "---\nstepmark_kind: task-flow\nid: r1\ngraph: g\ngraph_version: 1\ngraph_digest: 0000\nstatus: RUNNING\ntasks: []\n---\n",
    good: "---\nstepmark_kind: task-flow\nid: r1\ngraph: g\ngraph_version: 1\ngraph_digest: 4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945\nstatus: RUNNING\ntasks: []\n---\n",
    fix: "`stepmark flow restore FLOW` brings the graph back. Other tasks are another version: `stepmark flow graph revise FILE`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(flow) = record(subject, FlowKind::Flow) else { return };
    let Some(facts) = facts(subject) else { return };
    if let Some(Err(refusal)) = facts.of(&flow).map(crate::flows::FlowState::check_graph) {
        let help = format!("`stepmark flow restore {}` brings the graph back", flow.id());
        found
            .push(subject.finding(&RULE, span(subject, "graph_digest"), refusal.to_string()).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn the_graph_is_the_one_of_then() {
        let graph = "---\nstepmark_kind: task-graph\nid: g@v1\ngraph: g\nversion: 1\ntasks: []\n---\n";
        let digest = crate::flows::Graph::default().digest();
        for (digest, expected) in [("0000", 1), (digest.as_str(), 0)] {
            let flow = RULE.bad.replace("'0000'", digest).replace("0000", digest);
            assert_eq!(found_in(&RULE, &[("g.md", graph), ("f.md", &flow)]).len(), expected, "{digest}");
        }
    }
}
