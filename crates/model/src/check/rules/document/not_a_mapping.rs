//! SM104: the frontmatter is a list or a text and holds no keys.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM104",
    name: "not-a-mapping",
    group: Group::Document,
    severity: Severity::Error,
    summary: "The frontmatter is a list or a text and holds no keys.",
    why: "State is kept under keys. What has none is lost, though it is YAML.",
    bad: "---\ndraft\n---\n",
    good: "---\nstatus: draft\n---\n",
    fix: "Write `key: value` lines.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::NotAMapping),
        "write `key: value` lines",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn lists_and_texts_hold_no_keys() {
        assert_eq!(found(&RULE, "---\n- status\n---\n"), ["2:1 SM104 the frontmatter holds no keys"]);
        assert_eq!(found(&RULE, "---\ndraft\n---\n").len(), 1);
        assert!(found(&RULE, "---\n# nothing yet\n---\n").is_empty());
        assert!(found(&RULE, "---\n{}\n---\n").is_empty());
    }
}
