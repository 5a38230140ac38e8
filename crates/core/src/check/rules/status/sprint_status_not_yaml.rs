//! SM308: `sprint-status.yaml` is no YAML.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
    document::{ParseError, Span},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM308",
    name: "sprint-status-not-yaml",
    group: Group::Status,
    severity: Severity::Error,
    summary: "`sprint-status.yaml` is no YAML.",
    why: "No agent can tell from it which story comes next, and nobody sees where it disagrees with the stories. A text with `: ` \
          in it, most often in `last_updated`, is the usual cause.",
    bad: "development_status:\n  1-1-switch: review\nlast_updated: 2026-05-02: after review\n",
    good: "development_status:\n  1-1-switch: review\nlast_updated: '2026-05-02: after review'\n",
    mend: "Put the value in quotes. The message says where the reader gave up, which may be a little below the mistake.",
    decision: Decision::OfLaterStage,
};

/// The finding about the ledger at `path`, of which a story asked.
pub(crate) fn finding(path: &ProjectPath, error: &ParseError) -> Finding {
    let finding = Finding::new(&RULE, path, Span::at(error.offset()), error.to_string());
    finding.with_help("put a value with `: ` or ` #` in it in quotes")
}
