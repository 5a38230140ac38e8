//! SMF07: a record that is not what its events lead to.

use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMF07",
    name: "flow-log-disagrees",
    group: Group::Flows,
    severity: Severity::Error,
    summary: "A record of a flow is not what its events lead to. `stepmark flow replay` tells it with the difference.",
    why: "State and log are one commit: a record that says something else was edited by other means, and the commands of its flow are refused.",
    bad: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\n# the events say PENDING\nstatus: SUCCESS\n---\n",
    good: "---\nstepmark_kind: task-execution\nid: r1.tests\nflow: r1\ntask: tests\nstatus: PENDING\n---\n",
    fix: "A person decides: `stepmark flow accept FLOW` takes the edit, `stepmark flow restore FLOW` takes it back.",
    decision: Decision::OfLaterStage,
};
