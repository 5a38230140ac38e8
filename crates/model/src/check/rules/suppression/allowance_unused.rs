//! SM004: an entry of `check.allow` in the configuration accepts nothing.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SM004",
    name: "allowance-unused",
    group: Group::Suppressions,
    severity: Severity::Warning,
    summary: "An entry of `check.allow` in the configuration accepts nothing.",
    why: "What it was for is gone. Left where it is, it hides the next mistake of the kind, in every file that its patterns fit.",
    bad: "check:\n  allow:\n    - rules: [SM204]\n      paths: ['docs/finished-long-ago/**']\n      reason: session 3 was run twice on purpose\n",
    good: "check:\n  allow: []\n",
    fix: "Take it out. Entries are judged when the whole project is checked, and only where everything was there that their \
           rules need: one for a gate, or for history, is never called unused.",
    decision: Decision::OfLaterStage,
};

/// The finding about an entry that stands at `span` of the configuration file at `path` and accepts nothing
/// for the rules `idle`, of `all` that it has.
pub fn finding(path: &ProjectPath, span: Span, idle: &[&'static Rule], all: usize) -> Finding {
    let ids: Vec<_> = idle.iter().map(|rule| rule.id).collect();
    let message = format!("no file has a finding of {} that this entry accepts", ids.join(", "));
    let help = if ids.len() == all { "take it out" } else { "take the rules out that accept nothing" };
    Finding::new(&RULE, path, span, message).with_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rule_of;

    #[test]
    fn an_entry_goes_only_where_none_of_its_rules_is_needed() {
        let path = ProjectPath::new(".stepmark/config.yaml").unwrap();
        let [one, other] = ["SM104", "SM106"].map(|id| rule_of(id).unwrap());
        for (idle, all, rules, help) in [
            (vec![one], 1, "SM104", "take it out"),
            (vec![one, other], 2, "SM104, SM106", "take it out"),
            (vec![other], 2, "SM106", "take the rules out that accept nothing"),
        ] {
            let finding = finding(&path, Span::at(3), &idle, all);
            assert_eq!(finding.message, format!("no file has a finding of {rules} that this entry accepts"));
            assert_eq!(finding.help.as_deref(), Some(help));
        }
    }
}
