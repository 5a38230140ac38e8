//! SM105: a line inside the frontmatter ends its YAML document.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM105",
    name: "several-documents",
    group: Group::Document,
    severity: Severity::Error,
    summary: "A line inside the frontmatter ends its YAML document.",
    why: "Only the first YAML document is read. The keys of the others are there for a person and for \
              no program.",
    bad: "---\nstatus: draft\n--- # second\ntitle: PRD\n---\n",
    good: "---\nstatus: draft\ntitle: PRD\n---\n",
    fix: "Take the line out.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::SeveralDocuments),
        "take the line that parts them out",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_second_document_is_not_read() {
        assert_eq!(
            found(&RULE, "---\nstatus: draft\n--- # second\ntitle: PRD\n---\n"),
            ["2:1 SM105 only the first YAML document is read"]
        );
        assert!(found(&RULE, "---\nstatus: draft\ntitle: '---'\n---\n").is_empty());
    }
}
