//! SM310: a time is not written as ISO 8601 has it.

use super::written_time::WrittenTime;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM310",
    name: "time-not-iso",
    group: Group::Status,
    severity: Severity::Note,
    summary: "A time is not written as ISO 8601 has it.",
    why: "People understand it, programs do not, and `03/04/2026` is March to some and April to others.",
    bad: "---\nstatus: draft\ndate: January 14, 2026\n---\n",
    good: "---\nstatus: draft\ndate: 2026-01-14\n---\n",
    fix: "Write the day as `2026-02-28`, with a time as `2026-02-28T09:30:00Z`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        if let WrittenTime::OtherForm(text) = WrittenTime::of(time) {
            let message = format!("`{text}` is no time as ISO 8601 writes it");
            let finding = subject.finding(&RULE, time.span, message);
            found.push(finding.with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn programs_read_iso_8601() {
        let at = |time: &str| found(&RULE, &format!("---\nstatus: draft\nlastSaved: '{time}'\n---\n"));
        for time in [
            "January 2, 2026",
            "03/04/2026",
            "2026/01/02",
            "1700000000",
            "2026-01-02 (draft)",
            "Q3 2026",
            "2026-13",
        ] {
            assert_eq!(at(time), [format!("3:12 SM310 `{time}` is no time as ISO 8601 writes it")], "{time}");
        }
        for time in [
            "2026-01-02",
            "20260102",
            "2026-01",
            "2026",
            "2026-01-02T09:30:00.123+01:00",
            "2026-01-02 09:30 UTC",
            "2026-02-30",
            "soon",
            "{{date}}",
            "2026-{{month}}",
            "",
        ] {
            assert!(at(time).is_empty(), "{time}: {:?}", at(time));
        }
    }
}
