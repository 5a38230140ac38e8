//! SMA10: a blocked slice does not say what was not sure.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA10",
    name: "factors-missing",
    group: Group::Asdd,
    severity: Severity::Warning,
    summary: "A slice is blocked for lack of confidence, and does not say what the agent was not sure of.",
    why: "The next attempt, or whoever helps, begins from what was not sure.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: BLOCKED\nlkg_phase: DESIGN\nrollback_timestamp: 2026-04-20T16:45:00Z\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: BLOCKED\nlkg_phase: DESIGN\nrollback_timestamp: 2026-04-20T16:45:00Z\nuncertainty_factors: [the latency is not said]\n---\n",
    fix: "Write what was not sure under `uncertainty_factors`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let is_failed = slice.status() == "BLOCKED" && slice.values.contains_key("rollback_timestamp");
    if is_failed && slice.texts("uncertainty_factors").is_empty() {
        let message = "it is blocked for lack of confidence, and names no `uncertainty_factors`";
        let help = "write what the agent was not sure of";
        found.push(subject.finding(&RULE, span(subject, "rollback_timestamp"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn what_was_not_sure_is_said() {
        let expected =
            ["7:21 SMA10 it is blocked for lack of confidence, and names no `uncertainty_factors`"];
        assert_eq!(found(&RULE, RULE.bad), expected);
        assert!(found(&RULE, RULE.good).is_empty());
    }
}
