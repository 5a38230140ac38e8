//! SMM02: a memory holds a secret.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SMM02",
    name: "secret-in-memory",
    group: Group::Memory,
    severity: Severity::Error,
    summary: "A memory holds what looks like a key, a token or a password.",
    why: "It is told to agents and given to stores, and with `memory.track: git` to everybody who has the repository. stepmark refuses \
          such texts; this one came by an older version or another program.",
    bad: "# an event of the journal\n{\"kind\": \"memory\", \"data\": {\"memory\": {\"content\": \"the token is ghp_…\"}}}\n",
    good: "{\"kind\": \"memory\", \"data\": {\"memory\": {\"content\": \"the token is in the vault, as ci/token\"}}}\n",
    fix: "Take the secret out of use first: a journal keeps what it was told. Then tell the memory again without it, and \
          `stepmark memory supersede ID --by ID`, so that nobody is told the old one.",
    decision: Decision::OfLaterStage,
};

/// The finding that the memory `id` holds a secret of the kind `secret`.
pub fn finding(path: &ProjectPath, span: Span, (id, secret): (&str, &str)) -> Finding {
    Finding::new(&RULE, path, span, format!("memory {id:.8} holds a secret ({secret})")).with_help(format!(
        "take the secret out of use, tell the memory without it, and `stepmark memory supersede {id:.8} --by ID`"
    ))
}
