//! SM112: readers take a value for different ones.

use crate::artifact::Problem;
use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM112",
    name: "value-ambiguous",
    group: Group::Document,
    severity: Severity::Note,
    summary: "Readers take a value for different ones.",
    why: "Programs read YAML 1.1 or YAML 1.2. `0123` is 83 to the one and 123 to the other, `1:30` is 90 or text, \
              `75e9782` is text or infinite, `yes` is true or text. `version: 1.10` is 1.1 to both. Amounts such as `0.80`, \
              and dates, are left alone.",
    bad: "---\nversion: 1.10\ncommit: 75e9782\nstart: 9:30\n---\n",
    good: "---\nversion: '1.10'\ncommit: '75e9782'\nstart: '9:30'\nconfidence: 0.80\n---\n",
    fix: "Put it in quotes; where a boolean is meant, write `true` or `false`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.artifact.diagnoses() {
        let (text, help) = match &diagnosis.problem {
            Problem::ReadDifferently { text, .. } => (text, "put it in quotes if it is text"),
            Problem::ReadAsBool { text, .. } => (text, "put it in quotes, or write `true` or `false`"),
            _ => continue,
        };
        let title = format!("quote `{text}`");
        // In quotes it is another value to those who read a number or a boolean.
        let fix = Fix::splice(Safety::Unsafe, title, diagnosis.span, format!("'{text}'"));
        let finding = subject.finding(&RULE, diagnosis.span, diagnosis.problem.to_string());
        found.push(finding.with_help(help).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn values_that_versions_of_yaml_read_differently() {
        let file = "---\nfree: yes\nparts: [0123, {at: 1:30, big: 1_000}]\nsha: 75e9782\n---\n";
        assert_eq!(
            found(&RULE, file),
            [
                "2:7 SM112 `yes` in `free` is a boolean to some readers and text to others",
                "3:9 SM112 `0123` in `parts` is another value to some readers",
                "3:20 SM112 `1:30` in `at` is another value to some readers",
                "3:31 SM112 `1_000` in `big` is another value to some readers",
                "4:6 SM112 `75e9782` in `sha` is another value to some readers",
            ]
        );
        assert_eq!(
            fixed(&RULE, "---\nsha: 75e9782 # x\n---\n").as_deref(),
            Some("---\nsha: '75e9782' # x\n---\n")
        );
    }

    #[test]
    fn a_digit_is_lost_where_a_number_is_a_name() {
        for (key, is_found) in [
            ("version", true),
            ("schemaVersion", true),
            ("schema_version", true),
            ("story", true),
            ("conversion", false),
            ("confidence", false),
            ("cost", false),
        ] {
            let lines = found(&RULE, &format!("---\n{key}: 1.10\n---\n"));
            assert_eq!(!lines.is_empty(), is_found, "{key}: {lines:?}");
        }
    }

    #[test]
    fn what_every_reader_takes_for_the_same_is_left_alone() {
        for value in [
            "1.0",
            "6.0.4",
            "v1.10",
            "'1.10'",
            "10",
            "0",
            "2026-11-21",
            "true",
            "done",
            "!!str 010",
            "null",
            "",
        ] {
            let file = format!("---\nversion: {value}\nstepsCompleted: [08, 1.10]\n---\n");
            assert_eq!(found(&RULE, &file), Vec::<String>::new(), "{value}");
        }
    }
}
