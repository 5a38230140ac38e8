//! Suppressions. `check::policy` finds the problems.

use crate::check::{Finding, Fix, Rule, Safety, Subject};
use crate::{artifact::ProjectPath, check::rule::Decision};
use stepmark_frontmatter::Span;

rules! { Suppressions;
    pub(crate) WITHOUT_REASON "SM001" "suppression-without-reason" Warning Decision::OfLaterStage;
    pub(crate) UNUSED "SM002" "suppression-unused" Warning Decision::OfLaterStage;
    pub(crate) UNREADABLE "SM003" "suppression-unreadable" Warning Decision::OfLaterStage;
    pub ALLOWANCE_UNUSED "SM004" "allowance-unused" Warning Decision::OfLaterStage;
}

pub(crate) fn without_reason_finding(subject: &Subject<'_>, span: Span) -> Finding {
    let finding = subject.finding(&WITHOUT_REASON, span, "this suppression gives no reason");
    finding.with_help("write it behind the rule: `# stepmark: allow WITHOUT_REASON reason`")
}

pub(crate) fn unused_finding(
    subject: &Subject<'_>,
    span: Span,
    idle: &[&'static Rule],
    all: usize,
) -> Finding {
    let ids: Vec<_> = idle.iter().map(|rule| rule.id).collect();
    let message = format!("nothing is accepted here for {}", ids.join(", "));
    let finding = subject.finding(&UNUSED, span, message).with_help("take it out");
    // A person removes one rule of several, or a reason that may be worth keeping.
    let fix = (ids.len() == all).then(|| Fix::splice(Safety::Unsafe, "remove the suppression", span, ""));
    finding.with_fix(fix)
}

pub(crate) fn unreadable_finding(subject: &Subject<'_>, span: Span, fault: &str) -> Finding {
    let finding = subject.finding(&UNREADABLE, span, format!("this suppression has no effect: {fault}"));
    finding.with_help(
        "write `# stepmark: allow UNREADABLE reason` or `# stepmark: allow-file UNREADABLE reason`",
    )
}

/// For the rules `idle` of its rules `all`.
pub fn allowance_unused_finding(
    path: &ProjectPath,
    span: Span,
    idle: &[&'static Rule],
    all: usize,
) -> Finding {
    let ids: Vec<_> = idle.iter().map(|rule| rule.id).collect();
    let message = format!("no file has a finding of {} that this entry accepts", ids.join(", "));
    let help = if ids.len() == all { "take it out" } else { "take the rules out that accept nothing" };
    Finding::new(&ALLOWANCE_UNUSED, path, span, message).with_help(help)
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
            let finding = allowance_unused_finding(&path, Span::at(3), &idle, all);
            assert_eq!(finding.message, format!("no file has a finding of {rules} that this entry accepts"));
            assert_eq!(finding.help.as_deref(), Some(help));
        }
    }
}
