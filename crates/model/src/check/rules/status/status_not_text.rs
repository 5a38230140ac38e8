//! SM301: `status` is a list, a map or a number.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM301",
    name: "status-not-text",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "`status` is a list, a map or a number.",
    why: "No lifecycle has such a state, so nothing can be told from it.",
    bad: "---\nstatus: [draft]\n---\n",
    good: "---\nstatus: draft\n---\n",
    fix: "Write one word.",
    decision: Decision::diagnosed(|problem| matches!(problem, Problem::StatusNotText), ""),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_status_is_a_word() {
        for value in ["[draft]", "3", "true", "{a: b}"] {
            let file = format!("---\nstatus: {value}\n---\n");
            assert_eq!(found(&RULE, &file), ["2:9 SM301 `status` is no word"], "{value}");
        }
        for value in ["draft", "'3'", "", "null", "{{status}}"] {
            assert!(found(&RULE, &format!("---\nstatus: {value}\n---\n")).is_empty(), "{value}");
        }
    }
}
