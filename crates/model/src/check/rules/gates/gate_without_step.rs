//! SM601: a gate stands open whose step is not listed.

use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM601",
    name: "gate-without-step",
    group: Group::Gates,
    severity: Severity::Note,
    summary: "A gate stands open whose step is not listed.",
    why: "Whoever waits for the gate goes on with work that may not be done.",
    bad: "---\nstepsCompleted: []\n---\n",
    good: "---\nstepsCompleted: [step-01-init]\n---\n",
    fix: "`stepmark project` removes the gate. Gates are copies of the list of steps and never count \
              against it.",
    decision: Decision::OfLaterStage,
};
