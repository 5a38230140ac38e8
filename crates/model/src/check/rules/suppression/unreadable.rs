//! SM003: a comment begins with `stepmark:` and cannot be understood.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM003",
    name: "suppression-unreadable",
    group: Group::Suppressions,
    severity: Severity::Warning,
    summary: "A comment begins with `stepmark:` and cannot be understood.",
    why: "It looks as if something were accepted, and nothing is.",
    bad: "---\n# stepmark: ignore SM204 because\nstepsCompleted: [1, 1]\n---\n",
    good: "---\n# stepmark: allow SM204 because\nstepsCompleted: [1, 1]\n---\n",
    fix: "Write `# stepmark: allow RULE reason` beside or above a line, or `# stepmark: allow-file \
              RULE, RULE reason`.",
    decision: Decision::OfLaterStage,
};

/// The finding about the comment at `span`.
pub(crate) fn finding(subject: &Subject<'_>, span: Span, fault: &str) -> Finding {
    let finding = subject.finding(&RULE, span, format!("this suppression has no effect: {fault}"));
    finding.with_help("write `# stepmark: allow RULE reason` or `# stepmark: allow-file RULE reason`")
}
