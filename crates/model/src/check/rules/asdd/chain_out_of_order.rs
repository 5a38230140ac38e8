//! SMA11: the entries of a confidence chain are not in the order of their times.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::records::read_time;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA11",
    name: "chain-out-of-order",
    group: Group::Asdd,
    severity: Severity::Warning,
    summary: "The entries of a confidence chain are not in the order of their times.",
    why: "A clock that is wrong, or an entry that was put in by hand, makes history tell another way than the work went.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nconfidence_chain: [{agent: discovery, score: 0.9, timestamp: 2026-04-20T12:00:00Z}, {agent: spec, score: 0.9, timestamp: 2026-04-20T11:00:00Z}]\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nconfidence_chain: [{agent: discovery, score: 0.9, timestamp: 2026-04-20T11:00:00Z}, {agent: spec, score: 0.9, timestamp: 2026-04-20T12:00:00Z}]\n---\n",
    fix: "Write the times that are right; `stepmark log` knows when each entry was committed.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let chain = slice.chain();
    let timed: Vec<_> =
        chain.iter().filter_map(|entry| Some((entry.agent, read_time(entry.timestamp?)?))).collect();
    if let Some([(before, _), (agent, _)]) = timed.windows(2).find(|pair| pair[0].1 > pair[1].1) {
        let message =
            format!("`{agent}` stands behind `{before}` in the confidence chain, and its time is earlier");
        let help = "write the times that are right";
        found.push(subject.finding(&RULE, span(subject, "confidence_chain"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn times_ascend() {
        let expected =
            ["6:19 SMA11 `spec` stands behind `discovery` in the confidence chain, and its time is earlier"];
        assert_eq!(found(&RULE, RULE.bad), expected);
        assert!(found(&RULE, RULE.good).is_empty());
    }
}
