//! SM110: the frontmatter is larger or deeper than stepmark reads.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};
use stepmark_frontmatter::ParseError;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM110",
    name: "over-limit",
    group: Group::Document,
    severity: Severity::Error,
    summary: "The frontmatter is larger or deeper than stepmark reads.",
    why: "Files come from anywhere, so reading has limits: 1 MiB, 64 collections inside each other, \
              250,000 nodes. Beyond them nothing is read, rather than a part of it.",
    bad: "---\nstatus: draft\ndeep: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n---\n",
    good: "---\nstatus: draft\ndeep: []\n---\n",
    fix: "Move what is large out of the frontmatter, into the body or a file of its own.",
    decision: Decision::diagnosed(is_over_limit, "move what is large out of the frontmatter"),
};

fn is_over_limit(problem: &Problem) -> bool {
    use ParseError::{TooDeep, TooLarge, TooManyNodes};
    matches!(problem, Problem::NotYaml { error: TooLarge { .. } | TooDeep { .. } | TooManyNodes { .. } })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn each_limit_is_named() {
        let deep = format!("---\na: {}{}\n---\n", "[".repeat(65), "]".repeat(65));
        assert_eq!(found(&RULE, &deep), ["2:68 SM110 collections nest deeper than the limit of 64"]);
        let large = format!("---\na: {}\n---\n", "x".repeat(1 << 20));
        assert_eq!(
            found(&RULE, &large),
            ["2:1 SM110 the YAML is 1048580 bytes long, more than the limit of 1048576"]
        );
        let many = format!("---\na: [{}]\n---\n", "1,".repeat(250_000));
        assert!(found(&RULE, &many)[0].ends_with("the YAML holds more than the limit of 250000 nodes"));
        assert!(found(&RULE, "---\na: [[[[]]]]\n---\n").is_empty());
    }
}
