//! SM002: a suppression accepts nothing.

use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM002",
    name: "suppression-unused",
    group: Group::Suppressions,
    severity: Severity::Warning,
    summary: "A suppression accepts nothing.",
    why: "What it was for is gone. Left where it is, it hides the next mistake of the kind.",
    bad: "---\n# stepmark: allow SM204 session 3 was run twice on purpose\nstepsCompleted: [1, 2]\n---\n",
    good: "---\nstepsCompleted: [1, 2]\n---\n",
    fix: "Take it out. Where a check lacks what a rule needs (a chain, a gate, history), its \
              suppressions are not judged.",
    decision: Decision::OfLaterStage,
};

/// The finding about the comment at `span`, of whose `all` rules these are `idle`.
pub(crate) fn finding(subject: &Subject<'_>, span: Span, idle: &[&'static Rule], all: usize) -> Finding {
    let ids: Vec<_> = idle.iter().map(|rule| rule.id).collect();
    let message = format!("nothing is accepted here for {}", ids.join(", "));
    let finding = subject.finding(&RULE, span, message).with_help("take it out");
    // Taking out one rule of several is left to a person, and so is a reason that others may want to keep.
    let fix = (ids.len() == all).then(|| Fix::splice(Safety::Unsafe, "remove the suppression", span, ""));
    finding.with_fix(fix)
}
