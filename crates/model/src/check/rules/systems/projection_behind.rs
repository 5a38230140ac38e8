//! SMP02: a file that follows the records is older than they are.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SMP02",
    name: "projection-behind",
    group: Group::Systems,
    severity: Severity::Warning,
    summary: "A file that follows the records is as stepmark wrote it for earlier ones.",
    why: "Records were edited by hand or came with a merge, or a command was cut off behind its commit. Programs that \
          read the file work with what is no longer so.",
    bad: "{\"tasks\": [{\"id\": \"tests\", \"description\": \"Test the parser\", \"status\": \"available\"}]}\n",
    good: "{\"tasks\": [{\"id\": \"tests\", \"description\": \"Test the parser\", \"status\": \"claimed\"}]}\n",
    fix: "`stepmark coordination project` writes it; so does the next command that changes a record. Commit it with \
          the records, or keep it out of git.",
    decision: Decision::OfLaterStage,
};

/// The finding about the file at `path`; `project` is the command that writes it.
pub fn finding(path: &ProjectPath, project: &str) -> Finding {
    let message = "this file is older than the records that it follows";
    Finding::new(&RULE, path, Span::at(0), message).with_help(format!("`{project}` writes it"))
}
