//! SMA03: an agent stands twice in a confidence chain.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA03",
    name: "agent-twice-in-chain",
    group: Group::Asdd,
    severity: Severity::Error,
    summary: "An agent stands twice in the confidence chain of a slice.",
    why: "The product of the chain counts it twice, and nobody knows which entry is meant.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nconfidence_chain: [{agent: discovery, score: 0.9}, {agent: discovery_agent, score: 0.8}]\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nconfidence_chain: [{agent: discovery, score: 0.9}]\n---\n",
    fix: "Take the wrong entry out; history knows when each was added.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    if let Some(agent) = slice.twice_in_chain() {
        let message = format!("`{agent}` stands twice in the confidence chain");
        let help = "take the wrong entry out";
        found.push(subject.finding(&RULE, span(subject, "confidence_chain"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn an_agent_stands_once() {
        let expected = ["6:19 SMA03 `discovery_agent` stands twice in the confidence chain"];
        assert_eq!(found(&RULE, RULE.bad), expected);
        assert!(found(&RULE, RULE.good).is_empty());
    }
}
