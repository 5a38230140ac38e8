//! SMM01: a store lacks what is remembered.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SMM01",
    name: "memory-store-behind",
    group: Group::Memory,
    severity: Severity::Note,
    summary: "A store of `memory.stores` lacks memories whose moment has come, or could not be asked.",
    why: "Programs that ask that store are told old decisions, or none. The records here are whole.",
    bad: "memory:\n  # it failed, or nobody has run `stepmark memory sync`\n  stores: {kuzu: {kind: kuzu-memory}}\n",
    good: "memory:\n  stores: {kuzu: {kind: kuzu-memory}}\n",
    fix: "`stepmark memory sync` gives it what it lacks; `stepmark memory status` says what failed, and why.",
    decision: Decision::OfLaterStage,
};

/// The finding that the store `name`, which is configured at `span`, lacks `count` units.
pub fn finding(path: &ProjectPath, span: Span, (name, count): (&str, usize)) -> Finding {
    let message = match count {
        0 => format!("the store `{name}` could not be asked"),
        1 => format!("the store `{name}` lacks one memory or node"),
        count => format!("the store `{name}` lacks {count} memories and nodes"),
    };
    Finding::new(&RULE, path, span, message)
        .with_help("`stepmark memory sync` gives it what it lacks; `stepmark memory status` says what failed")
}
