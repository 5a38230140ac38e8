//! SM602: a completed step has no gate.

use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM602",
    name: "step-without-gate",
    group: Group::Gates,
    severity: Severity::Note,
    summary: "A completed step has no gate, though other steps of its artifact have theirs.",
    why: "Whoever waits for the gate waits for nothing.",
    bad: "---\nstepsCompleted: [step-01-init]\n---\n",
    good: "---\nstepsCompleted: [step-01-init]\n---\n",
    fix: "`stepmark project` makes the gate.",
    decision: Decision::OfLaterStage,
};
