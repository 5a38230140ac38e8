//! SM109: the file starts with a byte order mark.

use crate::check::{Group, Rule, Severity, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM109",
    name: "byte-order-mark",
    group: Group::Document,
    severity: Severity::Note,
    summary: "The file starts with a byte order mark.",
    why: "Some readers take the mark for text and see no frontmatter behind it.",
    bad: "\u{FEFF}---\nstatus: draft\n---\n",
    good: "---\nstatus: draft\n---\n",
    fix: "Save the file as UTF-8 without a byte order mark.",
    decision: Decision::fixable(
        |problem| matches!(problem, Problem::ByteOrderMark),
        "",
        |_, mark| Some(Fix::splice(Safety::Safe, "take the byte order mark out", mark, "")),
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn the_mark_is_taken_out() {
        let file = "\u{FEFF}---\nstatus: draft\n---\n";
        assert_eq!(found(&RULE, file).len(), 1);
        assert_eq!(fixed(&RULE, file).as_deref(), Some("---\nstatus: draft\n---\n"));
        assert!(found(&RULE, "---\nstatus: draft\n---\n\u{FEFF}").is_empty());
    }
}
