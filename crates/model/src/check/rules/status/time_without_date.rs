//! SM309: a key that holds a time holds a text without any date.

use super::written_time::WrittenTime;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM309",
    name: "time-without-date",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "A key that holds a time holds a text without any date.",
    why: "Nobody can tell later when it was, and programs that sort by it fail or put it anywhere.",
    bad: "---\nstatus: draft\ndate: soon\n---\n",
    good: "---\nstatus: draft\ndate: 2026-01-14\n---\n",
    fix: "Write the day as `2026-02-28`, with a time as `2026-02-28T09:30:00Z`; leave the value out where there is none yet. \
           Placeholders of templates are found by another rule.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        if let WrittenTime::Words(text) = WrittenTime::of(time) {
            let message = format!("`{}` is to say when, and `{text}` names no day", time.key);
            let finding = subject.finding(&RULE, time.span, message);
            found.push(
                finding.with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`, or leave the value out"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_time_names_a_day() {
        let at = |time: &str| found(&RULE, &format!("---\nstatus: draft\ncreated: '{time}'\n---\n"));
        for time in ["soon", "yesterday", "TBD", "after the review"] {
            assert_eq!(
                at(time),
                [format!("3:10 SM309 `created` is to say when, and `{time}` names no day")],
                "{time}"
            );
        }
        for time in [
            "2026-01-02",
            "2026-02-30",
            "January 2, 2026",
            "{{date}}",
            "<date>",
            "",
            " ",
            "never",
            "N/A",
            "1700000000",
        ] {
            assert!(at(time).is_empty(), "{time}: {:?}", at(time));
        }
        assert!(found(&RULE, "---\nstatus: draft\ngenerated: true\n---\n").is_empty(), "a flag");
        assert!(found(&RULE, "---\nstatus: draft\ndate:\ncreated: { system-date }\n---\n").is_empty());
    }
}
