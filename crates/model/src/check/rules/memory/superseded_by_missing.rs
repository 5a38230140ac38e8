//! SMM03: a memory was superseded by one that is not there.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SMM03",
    name: "superseded-by-missing",
    group: Group::Memory,
    severity: Severity::Warning,
    summary: "A memory was superseded by one that this clone does not have.",
    why: "The old decision is not recalled any more, and nothing is in its place. With `memory.track: local` the new one may lie in \
          another clone.",
    bad: "# events of the journal\n{\"kind\": \"memory-superseded\", \"data\": {\"superseded\": \"85159693…\", \"by\": \"0f0f0f0f…\"}}\n",
    good: "{\"kind\": \"memory\", \"id\": \"0f0f0f0f…\"}\n{\"kind\": \"memory-superseded\", \"data\": {\"superseded\": \"85159693…\", \"by\": \"0f0f0f0f…\"}}\n",
    fix: "Fetch the history that has it (`git pull`), or tell it again and `stepmark memory supersede OLD --by NEW`.",
    decision: Decision::OfLaterStage,
};

/// The finding that the memory `old` was superseded by `new`, which is not there.
pub fn finding(path: &ProjectPath, span: Span, (old, new): (&str, &str)) -> Finding {
    Finding::new(&RULE, path, span, format!("memory {old:.8} was superseded by {new:.8}, which is not there"))
        .with_help(format!(
            "fetch the history that has it, or tell it again and `stepmark memory supersede {old:.8} --by ID`"
        ))
}
