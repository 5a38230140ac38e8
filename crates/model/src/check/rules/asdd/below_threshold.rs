//! SMA06: an agent is less sure than its threshold, and the slice is not blocked.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA06",
    name: "below-threshold-not-blocked",
    group: Group::Asdd,
    severity: Severity::Error,
    summary: "An agent of a slice is less sure than its threshold, and the slice is not blocked.",
    why: "The gate of the phase is open though its agent does not trust the work.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: CI_CD\nconfidence_chain: [{agent: implementation, score: 0.71}]\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: BLOCKED\nconfidence_chain: [{agent: implementation, score: 0.71}]\n---\n",
    fix: "`stepmark asdd fail SLICE --agent A --score N --uncertainty TEXT` takes the slice back to the last phase that was good.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    if slice.status() == "BLOCKED" {
        return;
    }
    for entry in slice.chain() {
        let threshold = facts.rules.thresholds.of(entry.agent);
        if entry.score < threshold {
            let (agent, score, status) = (entry.agent, entry.score, slice.status());
            let message =
                format!("the confidence of `{agent}` is {score} < {threshold}, and the slice is {status}");
            let help = format!(
                "`stepmark asdd fail {} --agent {agent} --score {score} --uncertainty TEXT` holds it up",
                slice.id
            );
            found.push(subject.finding(&RULE, span(subject, "confidence_chain"), message).with_help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn who_is_not_sure_holds_the_slice_up() {
        let expected =
            ["6:19 SMA06 the confidence of `implementation` is 0.71 < 0.75, and the slice is CI_CD"];
        assert_eq!(found(&RULE, RULE.bad), expected);
        assert!(found(&RULE, RULE.good).is_empty());
        assert!(found(&RULE, &RULE.bad.replace("0.71", "0.75")).is_empty());
    }
}
