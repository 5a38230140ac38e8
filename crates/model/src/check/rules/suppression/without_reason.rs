//! SM001: a suppression does not say why.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM001",
    name: "suppression-without-reason",
    group: Group::Suppressions,
    severity: Severity::Warning,
    summary: "A suppression does not say why.",
    why: "Whoever finds it later cannot tell whether it still holds. It has its effect all the same.",
    bad: "---\n# stepmark: allow SM204\nstepsCompleted: [1, 1]\n---\n",
    good: "---\n# stepmark: allow SM204 session 3 was run twice on purpose\nstepsCompleted: [1, 1]\n---\n",
    fix: "Write the reason behind the rule.",
    decision: Decision::OfLaterStage,
};

/// The finding about the comment at `span`.
pub(crate) fn finding(subject: &Subject<'_>, span: Span) -> Finding {
    let finding = subject.finding(&RULE, span, "this suppression gives no reason");
    finding.with_help("write it behind the rule: `# stepmark: allow RULE reason`")
}
