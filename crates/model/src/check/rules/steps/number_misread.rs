//! SM207: a step is written as a number that readers change.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM207",
    name: "number-misread",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A step is written as a number that readers change.",
    why: "`1.10` without quotes is the number 1.1 to every reader, so step ten becomes step one. \
              `012` is 12 to some and 10 to others.",
    bad: "---\nstepsCompleted: [1.9, 1.10]\n---\n",
    good: "---\nstepsCompleted: ['1.9', '1.10']\n---\n",
    fix: "Put it in quotes.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.diagnoses(|problem| matches!(problem, Problem::NumberMisread { .. })) {
        let text =
            subject.artifact.bytes().get(diagnosis.span.range()).and_then(|text| str::from_utf8(text).ok());
        // Written again as text, it says what is spelled here.
        let is_bare =
            |text: &&str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte));
        let fix = text.filter(is_bare).map(|text| {
            Fix::splice(Safety::Safe, format!("quote `{text}`"), diagnosis.span, format!("'{text}'"))
        });
        let finding = subject.finding(&RULE, diagnosis.span, diagnosis.problem.to_string());
        found.push(finding.with_help("put it in quotes").with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn decimals_and_octals_are_misread() {
        let file = "---\nstepsCompleted: [1, 1.10, 08, '1.9', 10]\n---\n";
        assert_eq!(
            found(&RULE, file),
            [
                "2:21 SM207 `1.10` in `stepsCompleted` is a number that readers change or disagree on",
                "2:27 SM207 `08` in `stepsCompleted` is a number that readers change or disagree on"
            ]
        );
        assert_eq!(
            fixed(&RULE, file).as_deref(),
            Some("---\nstepsCompleted: [1, '1.10', 08, '1.9', 10]\n---\n")
        );
    }
}
