//! SMA09: an agent of a slice is silent.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA09",
    name: "heartbeat-stale",
    group: Group::Asdd,
    severity: Severity::Note,
    summary: "An agent says that it works on a slice, and is silent for longer than `asdd.monitor.timeout_seconds`.",
    why: "It has probably died; until somebody looks, nobody works on the slice. Signs of life are those that this clone has seen.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-009\nname: Sign-in\nstatus: IMPLEMENTATION\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: IMPLEMENTATION\n---\n",
    fix: "`stepmark asdd monitor` tells of it, and blocks the slice when that happens too often; an agent that lives runs `stepmark asdd heartbeat`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    for agent in facts.silent.get(&slice.id).into_iter().flatten() {
        let message = format!("`{agent}`, which works on it, is silent for too long");
        let help = "`stepmark asdd monitor` looks after it";
        found.push(subject.finding(&RULE, span(subject, "status"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_silent_agent_is_told_of() {
        let expected = ["5:9 SMA09 `implementation_agent`, which works on it, is silent for too long"];
        assert_eq!(found(&RULE, RULE.bad), expected);
        assert!(found(&RULE, RULE.good).is_empty());
    }
}
