//! SM106: a key stands twice in one mapping.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM106",
    name: "key-twice",
    group: Group::Document,
    severity: Severity::Error,
    summary: "A key stands twice in one mapping.",
    why: "Some readers take the first, some the last, and some refuse the file. stepmark reads the \
              first and edits neither, since nobody can tell which one is meant.",
    bad: "---\nstatus: draft\nstatus: done\n---\n",
    good: "---\nstatus: done\n---\n",
    fix: "Keep one of them.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::KeyTwice { .. }),
        "keep one of them; stepmark reads the first and edits neither",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_later_key_is_named_at_any_depth() {
        assert_eq!(
            found(&RULE, "---\nstatus: draft\nx: {a: 1, a: 2}\nstatus: done\n---\n"),
            [
                "3:11 SM106 the key `a` stands twice, and readers disagree on which one counts",
                "4:1 SM106 the key `status` stands twice, and readers disagree on which one counts"
            ]
        );
        assert!(found(&RULE, "---\na: {status: x}\nstatus: done\n---\n").is_empty());
    }
}
