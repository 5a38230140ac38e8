//! SMA08: a slice waits for a tech lead.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA08",
    name: "review-open",
    group: Group::Asdd,
    severity: Severity::Warning,
    summary: "A slice that was made again waits for a tech lead.",
    why: "Files do not tell how sure agents were, or in which phase they worked. Until somebody says it, no phase is left.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DESIGN\nneeds_human_review: [status, confidence_chain]\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DESIGN\n---\n",
    fix: "A tech lead says what is right: `stepmark asdd review SLICE KEY=VALUE`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(slice) = slice(subject) else { return };
    let open = slice.needs_review();
    if !open.is_empty() {
        let message = format!("a tech lead has to look at {}", open.join(", "));
        let help = format!("`stepmark asdd review {} KEY=VALUE` says what is right", slice.id);
        let key =
            if slice.values.contains_key("needs_human_review") { "needs_human_review" } else { "status" };
        found.push(subject.finding(&RULE, span(subject, key), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn what_is_not_sure_waits() {
        assert_eq!(
            found(&RULE, RULE.bad),
            ["6:21 SMA08 a tech lead has to look at status, confidence_chain"]
        );
        assert!(found(&RULE, RULE.good).is_empty());
        let unknown = RULE.good.replace("DESIGN", "NEEDS_HUMAN_REVIEW");
        assert_eq!(found(&RULE, &unknown), ["5:9 SMA08 a tech lead has to look at status"]);
    }
}
